package lab

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// stateDir moves the lab's state into a folder of the test.
func stateDir(t *testing.T) state.Dir {
	t.Helper()
	t.Setenv(state.Variable, t.TempDir())
	dir, err := state.Default()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUpRefuses(t *testing.T) {
	stateDir(t)
	for _, nodes := range []int{-1, 51} {
		if _, err := Up(t.Context(), Options{Nodes: nodes}); err == nil || !strings.Contains(err.Error(), "nodes") {
			t.Errorf("Up with %d nodes: %v", nodes, err)
		}
	}
	t.Setenv(state.Variable, "/"+strings.Repeat("x", 76))
	if _, err := Up(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("Up with a path too long for sockets: %v", err)
	}
}

func TestAttachNeedsACompleteLab(t *testing.T) {
	dir := stateDir(t)
	if _, err := Attach(); !errors.Is(err, ErrNotUp) {
		t.Errorf("Attach without a lab: %v", err)
	}
	if err := (config{Nodes: 3}).write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(); !errors.Is(err, ErrNotUp) {
		t.Errorf("Attach to a half-started lab: %v", err)
	}
	if err := (config{Nodes: 2, Complete: true}).write(dir); err != nil {
		t.Fatal(err)
	}
	lab, err := Attach()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lab.Nodes(), " "); got != "n1 n2" {
		t.Errorf("the nodes are %s", got)
	}
	if err := os.WriteFile(dir.Config(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(); err == nil || errors.Is(err, ErrNotUp) {
		t.Errorf("Attach to a damaged lab: %v", err)
	}
}

func TestFaultsNeedNodesThatExist(t *testing.T) {
	dir := stateDir(t)
	if err := (config{Nodes: 2, Complete: true}).write(dir); err != nil {
		t.Fatal(err)
	}
	lab, err := Attach()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"kill":              lab.Faults().KillNode(ctx, "n3"),
		"stop":              lab.Faults().StopNode(ctx, "n3"),
		"isolate":           lab.Faults().IsolateNode(ctx, "n3"),
		"heal":              lab.Faults().HealNode(ctx, "n3"),
		"partition, first":  lab.Faults().PartitionNodes(ctx, "n3", "n1"),
		"partition, second": lab.Faults().PartitionNodes(ctx, "n1", "n3"),
		"slow link":         lab.Faults().SlowLink(ctx, "n3", 0, 0),
		"fast link":         lab.Faults().FastLink(ctx, "n3"),
		"disk":              lab.Disks().Create(ctx, "n3/a", 0),
		"image":             lab.Faults().RemoveImage(ctx, "n3", "a:b"),
		"one way":           lab.Faults().PartitionOneWay(ctx, "n1", "n3"),
	} {
		if err == nil || !strings.Contains(err.Error(), `no node "n3"; it has [n1 n2]`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := lab.Faults().DelayVolumes(ctx, -1); err == nil {
		t.Error("a volume takes less than no time")
	}
	if err := lab.Faults().SlowLink(ctx, "n1", 0, 2); err == nil {
		t.Error("a link loses more than all")
	}
	if err := lab.Faults().PartitionNodes(ctx, "n1", "n1"); err == nil {
		t.Error("a node was cut off from itself")
	}
	for name, err := range map[string]error{
		"container": lab.Faults().KillContainer(ctx, "namespace/pod"), "volume": lab.Faults().WipeVolume(ctx, "claim"),
	} {
		if err == nil || !strings.Contains(err.Error(), "NAMESPACE/") {
			t.Errorf("%s: %v, want an error that says what a name looks like", name, err)
		}
	}
}

func TestOneCommandAtATime(t *testing.T) {
	dir := stateDir(t)
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); err == nil {
		t.Error("two commands change the lab at once")
	}
	unlock()
	again, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestHealthy(t *testing.T) {
	const alive = true
	whole := Status{
		Components: []Component{{Name: "etcd", Alive: alive}}, Nodes: []NodeStatus{{Name: "n1", Connected: true}},
	}
	if !whole.Healthy() {
		t.Error("a whole lab is not healthy")
	}
	for name, status := range map[string]Status{
		"API":       {API: errors.New("refused"), Components: whole.Components, Nodes: whole.Nodes},
		"process":   {Components: []Component{{Name: "etcd"}}, Nodes: whole.Nodes},
		"cable":     {Components: whole.Components, Nodes: []NodeStatus{{Name: "n1"}}},
		"partition": {Nodes: []NodeStatus{{Name: "n1", Connected: true, PartitionedFrom: []string{"n2"}}}},
		"link":      {Nodes: []NodeStatus{{Name: "n1", Connected: true, Slow: true}}},
		"direction": {Nodes: []NodeStatus{{Name: "n1", Connected: true, SilentTo: []string{"n2"}}}},
	} {
		if status.Healthy() {
			t.Errorf("a lab with a broken %s is healthy", name)
		}
	}
}

func TestStatusOfADeadLab(t *testing.T) {
	dir := stateDir(t)
	if err := (config{Nodes: 1, Complete: true}).write(dir); err != nil {
		t.Fatal(err)
	}
	lab, err := Attach()
	if err != nil {
		t.Fatal(err)
	}
	status, err := lab.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Healthy() || status.API == nil {
		t.Errorf("a lab that never ran is %+v", status)
	}
	const controlPlane, node = 6, 3
	if len(status.Components) != controlPlane+node {
		t.Errorf("the components are %+v", status.Components)
	}
}
