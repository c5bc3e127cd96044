package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseMounts(t *testing.T) {
	const other = "24 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	const v1 = "30 24 0:26 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n" +
		"31 24 0:27 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory\n"
	tests := []struct {
		name, mountinfo string
		want            []hierarchy
	}{
		{name: "none", mountinfo: other},
		{name: "v1", mountinfo: other + v1, want: []hierarchy{
			{root: "/sys/fs/cgroup/cpuset"}, {root: "/sys/fs/cgroup/memory"},
		}},
		{
			name: "v2", mountinfo: other + "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
			want: []hierarchy{{root: "/sys/fs/cgroup", v2: true}},
		},
		{
			name:      "both",
			mountinfo: v1 + "32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			want: []hierarchy{
				{root: "/sys/fs/cgroup/cpuset"},
				{root: "/sys/fs/cgroup/memory"},
				{root: "/sys/fs/cgroup/unified", v2: true},
			},
		},
		{name: "mounted twice", mountinfo: v1 + v1, want: []hierarchy{
			{root: "/sys/fs/cgroup/cpuset"}, {root: "/sys/fs/cgroup/memory"},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := parseMounts(test.mountinfo); !slices.Equal(got, test.want) {
				t.Errorf("parseMounts = %+v, want %+v", got, test.want)
			}
		})
	}
}

// write makes files below a folder that stands for a mounted hierarchy.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCreateFillsCPUSetsOfV1(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"})
	// The kernel makes the files of a new group; here they are there before.
	write(t, filepath.Join(root, "lab"), map[string]string{"cpuset.cpus": "\n", "cpuset.mems": "\n"})
	write(t, filepath.Join(root, "lab", "n1"), map[string]string{"cpuset.cpus": "1\n", "cpuset.mems": "\n"})
	host := Host{hierarchies: []hierarchy{{root: root}}}
	if err := host.Create("/lab/n1"); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"lab/cpuset.cpus": "0-1", "lab/cpuset.mems": "0", "lab/n1/cpuset.cpus": "1", "lab/n1/cpuset.mems": "0",
	} {
		got, err := os.ReadFile(filepath.Join(root, file)) // #nosec G304 -- a file of the test
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s holds %q, %v, want %q", file, got, err, want)
		}
	}
}

func TestCreateDelegatesControllersOfV2(t *testing.T) {
	root := t.TempDir()
	// The kernel makes the files of a new group; here they are there before.
	const delegated = "cgroup.subtree_control"
	write(t, root, map[string]string{"cgroup.controllers": "cpu\n", delegated: ""})
	write(t, filepath.Join(root, "lab"), map[string]string{"cgroup.controllers": "memory\n", delegated: ""})
	host := Host{hierarchies: []hierarchy{{root: root, v2: true}}}
	if err := host.Create("/lab/n1"); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": "+cpu", "lab": "+memory"} {
		got, err := os.ReadFile(filepath.Join(root, dir, delegated)) // #nosec G304 -- the test's
		if err != nil || string(got) != want {
			t.Errorf("%q delegates %q, %v, want %q", dir, got, err, want)
		}
	}
	// A group that holds processes may not delegate, and the last one will.
	if _, err := os.Stat(filepath.Join(root, "lab", "n1", delegated)); err == nil {
		t.Error("the innermost group delegates")
	}
}

func TestPIDsOfAllHierarchies(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "lab"), map[string]string{"cgroup.procs": "7\n5\n"})
	write(t, filepath.Join(one, "lab", "pod"), map[string]string{"cgroup.procs": "9\n"})
	write(t, filepath.Join(two, "lab"), map[string]string{"cgroup.procs": "5\n11\n"})
	host := Host{hierarchies: []hierarchy{{root: one}, {root: two, v2: true}}}
	got, err := host.PIDs("/lab")
	if want := []int{5, 7, 9, 11}; err != nil || !slices.Equal(got, want) {
		t.Errorf("PIDs = %v, %v, want %v", got, err, want)
	}
	got, err = host.PIDs("/absent")
	if err != nil || len(got) != 0 {
		t.Errorf("PIDs of an absent group = %v, %v, want none", got, err)
	}
}

func TestOnlyTheLabsGroupsAreKilled(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"cgroup.procs": "999999999\n"})
	host := Host{hierarchies: []hierarchy{{root: root}}}
	for _, path := range []string{"", "/", "/user.slice", Root + "-other", "/x" + Root} {
		if err := host.Kill(t.Context(), path); err == nil {
			t.Errorf("Kill(%q) was not refused", path)
		}
	}
	if err := host.Kill(t.Context(), Root); err != nil {
		t.Errorf("Kill of the lab's absent group: %v", err)
	}
}

func TestRemoveTakesChildrenFirst(t *testing.T) {
	root := t.TempDir()
	host := Host{hierarchies: []hierarchy{{root: root}}}
	for _, path := range []string{"/lab/n1/agents", "/lab/n1/pods", "/lab/n2"} {
		if err := host.Create(path); err != nil {
			t.Fatal(err)
		}
	}
	if !host.Exists("/lab/n1") {
		t.Fatal("the group was not made")
	}
	for range 2 { // Removing what is gone is no error.
		if err := host.Remove("/lab"); err != nil {
			t.Fatal(err)
		}
		if host.Exists("/lab") {
			t.Error("the group is still there")
		}
	}
}
