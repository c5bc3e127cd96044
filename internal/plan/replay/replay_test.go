package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// TestWhatIsObservedIsPlainData wants nothing in an observation that JSON does not hold, or that others do not hand on as it is.
func TestWhatIsObservedIsPlainData(t *testing.T) {
	fields(reflect.TypeFor[replay.Pass](), nil, func(at string, f reflect.StructField) {
		kind := f.Type
		if kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		switch k := kind.Kind(); {
		case !f.IsExported():
			t.Errorf("%s is not exported: JSON leaves it out", at)
		case k == reflect.Uint64 && f.Tag.Get("json") != ",string" && kind.Name() == "uint64":
			t.Errorf(`%s is an ID of 64 bits: it needs the tag json:",string", for many a program rounds numbers`, at)
		case k == reflect.Pointer && kind.Elem().Kind() != reflect.Struct:
			t.Errorf("%s points to %s: what is zero is left out, and it would come back as nil", at, kind.Elem())
		case k != reflect.Struct && k != reflect.Pointer && k != reflect.String && k != reflect.Bool &&
			k != reflect.Int && k != reflect.Int32 && k != reflect.Int64 && k != reflect.Uint64:
			t.Errorf("%s is a %s", at, k)
		}
	})
}

// TestEveryFieldComesBack fills every field.
func TestEveryFieldComesBack(t *testing.T) {
	want := replay.Pass{}
	n := 0
	fill(reflect.ValueOf(&want).Elem(), "", func(string) string { n++; return "text " + string(rune('0'+n)) }, 2)
	// Specs are told by name.
	want.Observed.Cluster.Spec, want.Observed.Cluster.AcceptedSpec, want.Observed.Cluster.PreviousSpec = "spec 1", "spec 2", "spec 3"
	for r, names := want.Observed.Cluster.Previous, []string{"spec 4", "spec 5", "spec 6", "spec 7"}; r != nil; r, names = r.Previous, names[2:] {
		r.AcceptedSpec, r.PreviousSpec = names[0], names[1]
	}
	for i := range want.Observed.Refused { // the API server quotes what it refuses
		want.Observed.Refused[i].Message = ""
	}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, []replay.Pass{want}) {
		t.Errorf("it was\n%+v, and comes back as\n%+v\nby %s", want, got, text)
	}
}

// told are the fields from which text gets into the log. Who adds one must know that no user's secret can be in it: Kubernetes'
// and etcd's own words are in conditions and events, too, and names are names.
var told = []string{
	"Alarm.Kind", "Answer.Downgrade", "Answer.Errors", "Answer.Pod", "Answer.PodUID", "Answer.Storage", "Answer.Version",
	"Bootstrap.Members", "Bootstrap.Restore", "Bootstrap.Token", "Cluster.BackingUp", "Cluster.Domain", "Cluster.Name", "Cluster.Namespace", "Cluster.NewestPatch", "Cluster.Pinned",
	"Cluster.Repository", "Cluster.Restore", "Cluster.RestorePlan", "Cluster.RestoreSurvivor", "Cluster.Resuming", "Cluster.SafetySnapshot", "Cluster.UID", "Cluster.Version",
	"Cluster.WaitFailed", "Cluster.WaitsForRestore", "Conflict.Kind", "Conflict.Name", "Conflict.Owner", "Database.Pod", "Database.PodUID", "Description.Action",
	"Description.Message", "Description.Reason", "Disk.Pod", "Disk.PodUID", "DiskHistory.Pod", "DiskHistory.PodUID", "Etcd.Confirmed", "Etcd.Mute", "Etcd.Reached", "Etcd.Unconfirmed",
	"GivenUpPatch.Because", "GivenUpPatch.Version", "HandshakeFailure.Message", "HandshakeFailure.Pod", "InitialPod.Name", "InitialPod.PodUID", "InitialPod.VolumeUID", "Member.Name", "Member.PeerURL", "Pass.Version",
	"Patch.Image", "Patch.InsteadOf", "Patch.Version", "PatchTrial.Member", "PatchTrial.PodUID", "RefusedPatch.Image", "RefusedPatch.Version",
	"Permit.InitialCluster", "Permit.Mode", "Permit.PodUID", "Permit.Token", "Pod.Avoids", "Pod.Exit", "Pod.IP", "Pod.Image", "Pod.Name", "Pod.Node",
	"Pod.Resizing", "Pod.StartProblem", "Pod.UID", "Pod.Version", "Pod.WaitsFor", "Pod.Zone", "PrepullPod.Image", "PrepullPod.Name",
	"PrepullPod.Node", "PrepullPod.Problem", "PrepullPod.UID", "Problem.Message", "Problem.Reason", "Quarantined.Name",
	"Quarantined.VolumeUID", "Record.KeptUIDs",
	"Record.Hibernation", "Record.LowestVersion", "Record.NextVoters", "Record.SlowMember", "Record.Voters",
	"RecoveryBackup.EtcdBackup", "RecoveryBackup.Snapshot", "RecoveryPolicy.Confirmed", "RecoveryPolicy.HeldBack", "RecoveryPolicy.Restore",
	"RecoveryPolicy.RestoreFailed", "RecoveryPolicy.RestorePlan", "RecoveryPolicy.Unlisted", "Relocation.GivenUp", "Relocation.Name", "Relocation.Node", "Resized.GivenUp", "Safety.UnsavedReason",
	"Target.Kind", "Target.Name", "Target.Verb", "Usage.Pod", "Usage.PodUID", "Volume.Foreign",
	"Volume.Name", "Volume.UID", "Volume.Version",
}

// TestWhatIsTold puts something into every field that holds text, and wants it in the log from those that are known alone.
func TestWhatIsTold(t *testing.T) {
	p := replay.Pass{}
	fill(reflect.ValueOf(&p).Elem(), "", func(at string) string { return "<" + at + ">" }, 2)
	before := p.Observed.Cluster.Previous.PreviousSpec
	line, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	p = replay.Pass{}
	var text strings.Builder // what encoding/json makes of < is undone
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&p); err != nil {
		t.Fatal(err)
	}
	write(reflect.ValueOf(p), &text)
	found := map[string]bool{}
	for part := range strings.SplitSeq(text.String(), "<") {
		if at, _, ok := strings.Cut(part, ">"); ok {
			found[at] = true
		}
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, told) {
		for _, at := range got {
			if !slices.Contains(told, at) {
				t.Errorf("%s gets into the log: may it hold a secret?", at)
			}
		}
		for _, at := range told {
			if !found[at] {
				t.Errorf("%s does not get into the log, or is no more", at)
			}
		}
	}
	if before != "<Record.PreviousSpec>" {
		t.Errorf("the record says %q", before)
	}
}

// TestSpecsAreCompared wants what is the same to have the same name, what is none to stay none, and the original unchanged.
func TestSpecsAreCompared(t *testing.T) {
	p := replay.Pass{}
	c := &p.Observed.Cluster
	c.Name, c.Spec, c.AcceptedSpec, c.PreviousSpec = "c", "new", "old", ""
	c.Previous = &plan.Record{PreviousSpec: "old"}
	line, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	g := got[0].Observed.Cluster
	if g.Spec != "spec 1" || g.AcceptedSpec != "spec 2" || g.PreviousSpec != "" || g.Previous.PreviousSpec != "spec 2" {
		t.Errorf("specs: %q, %q, %q, and before the restore %q", g.Spec, g.AcceptedSpec, g.PreviousSpec, g.Previous.PreviousSpec)
	}
	if c.Spec != "new" || c.Previous.PreviousSpec != "old" {
		t.Errorf("what was observed is changed: %+v", c)
	}
}

// TestRead takes what people send.
func TestRead(t *testing.T) {
	p := replay.Pass{Version: "v1", Observed: plan.Observed{Now: time.Unix(1e9, 0).UTC()}}
	p.Observed.Cluster.Name = "c"
	line, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var wide bytes.Buffer
	if err := json.Indent(&wide, line, "", "  "); err != nil {
		t.Fatal(err)
	}
	one := string(line)
	logged := `{"level":"info","msg":"observed of EtcdCluster ns/c","replay":` + one + `,"reconcileID":"1"}` + "\n"
	for title, c := range map[string]struct {
		text string
		n    int
		want string // in the error
	}{
		"the JSON alone":          {text: one, n: 1},
		"laid out":                {text: "\n" + wide.String(), n: 1},
		"a line of the log":       {text: logged, n: 1},
		"with the time before it": {text: "2026-01-02T03:04:05Z " + logged, n: 1},
		"of a development build":  {text: "INFO\tobserved\t" + `{"a": 1, "replay": ` + one + "}\n", n: 1},
		"of a test":               {text: `replay_test.go:1: "level"=0 "msg"="observed" "replay"=` + one + "\n", n: 1},
		"a whole log":             {text: `{"msg":"starting"}` + "\n" + logged + "\n" + `{"msg":"\"replay\":"}` + "\n" + logged, n: 2},
		"nothing":                 {text: "", want: "log-observed"},
		"another log":             {text: `{"msg":"starting"}` + "\n", want: "log-observed"},
		"cut off":                 {text: "\n" + logged[:len(logged)/2], want: "line 2: the text ends in the middle"},
		"the JSON cut off":        {text: one[:len(one)-3], want: "the text ends in the middle"},
		"of another version": {
			text: `{"replay":{"Version":"v9.9.9","Observed":{"Cluster":{"Name":"c"},"Weather":1}}}`,
			want: `unknown field "Weather": etcd-operator v9.9.9 has written it; replay it with the source of that version`,
		},
		"something else":    {text: `{"replay":{}}`, want: "names no EtcdCluster"},
		"changed by others": {text: strings.Replace(logged, `"Now":"`, `"Now":"x`, 1), want: "line 1: "},
	} {
		t.Run(title, func(t *testing.T) {
			got, err := replay.Read([]byte(c.text))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			if err != nil || len(got) != c.n || !reflect.DeepEqual(got[0], p) {
				t.Errorf("%d passes, %v: %+v", len(got), err, got)
			}
		})
	}
	if _, err := replay.Read(nil); !errors.Is(err, replay.ErrNone) {
		t.Errorf("nothing to replay: %v", err)
	}
}
