package status

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestEveryFieldOfARecord puts one field of a record after the other into a status, and wants it back from the API server.
func TestEveryFieldOfARecord(t *testing.T) {
	for field := range reflect.TypeFor[plan.Record]().Fields() {
		t.Run(field.Name, func(t *testing.T) {
			r := plan.Record{Bootstrap: &plan.Bootstrap{Restore: "r"}}
			switch field.Name {
			case "RanBefore": // nothing was started here
				r.Bootstrap = nil
			case "SlowMember": // it is of that time
				r.LeaderMoved = at
			case "Previous":
				r.Previous = recordOfFormer(full().Former)
			}
			if v := reflect.ValueOf(&r).Elem().FieldByIndex(field.Index); v.Kind() != reflect.Pointer || v.IsNil() {
				something(t, v)
			}
			s := &v1beta2.EtcdClusterStatus{ObservedGeneration: 1, Restores: []v1beta2.RestoreRecord{{UID: "r", Name: "r"}}}
			shown(s, r)
			volumes := []plan.Volume{{Name: "m-9", UID: "text"}}
			writeRecord(s, r, plan.Observed{Volumes: volumes})
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			read := &v1beta2.EtcdClusterStatus{}
			if err := json.Unmarshal(text, read); err != nil {
				t.Fatal(err)
			}
			got := RecordOf(read)
			inOneZone(&got, &r)
			if r.Previous != nil {
				got.Previous.LeaderMoved = r.Previous.LeaderMoved
			}
			if !reflect.DeepEqual(got, r) {
				t.Errorf("it comes back as\n%+v, not\n%+v, by %s", got, r, text)
			}
		})
	}
}

// inOneZone has times that are equal be the same ones.
func inOneZone(got, want *plan.Record) {
	timesOf := func(r *plan.Record) []*time.Time {
		trial := &r.Tuned.Patch.Trial
		all := []*time.Time{&r.LeaderMoved, &r.Relocation.Since, &r.Tuned.Patch.Since, &r.Tuned.Resized.Since, &trial.Began, &trial.Healthy, &trial.Failing}
		for i := range r.RefusedPatches {
			all = append(all, &r.RefusedPatches[i].Since)
		}
		return all
	}
	wanted := timesOf(want)
	for i, at := range timesOf(got) {
		if i < len(wanted) && at.Equal(*wanted[i]) {
			*at = *wanted[i]
		}
	}
}

// shown adds what of a record is noted where people read it, by others than writeRecord.
func shown(s *v1beta2.EtcdClusterStatus, r plan.Record) {
	for _, name := range r.Voters {
		s.MemberStatuses = append(s.MemberStatuses, v1beta2.MemberStatus{Name: name, Role: v1beta2.MemberRoleVoter})
	}
	if r.Unsaved {
		s.Restores[0].Unsaved = "why"
	}
	if r.CancelDeclined {
		s.Restores[0].NotCalledOff = "why"
	}
	if r.Previous != nil {
		s.Former = formerFor(&v1beta2.EtcdClusterStatus{MemberStatuses: full().Former.MemberStatuses}, r.Previous)
	}
}

// something is what no field holds by itself; a spec is JSON.
func something(t *testing.T, v reflect.Value) {
	t.Helper()
	switch kind := v.Interface().(type) {
	case plan.Incarnations:
		v.Set(reflect.ValueOf(plan.Incarnations{Last: 7, FirstRestore: 6}))
	case member.Transport:
		v.Set(reflect.ValueOf(member.Transport{PeerTLS: true}))
	case *plan.Bootstrap:
		v.Set(reflect.ValueOf(bootstrapOf(full().Bootstrap)))
	case plan.Quarantined:
		v.Set(reflect.ValueOf(plan.Quarantined{Member: 7, Name: "text", VolumeUID: "uid"}))
	case plan.Doubt:
		v.Set(reflect.ValueOf(plan.Doubt{Suspect: 7, Split: true}))
	case plan.Tuned:
		v.Set(reflect.ValueOf(plan.Tuned{
			Quota: 7, InsteadOf: 6, Volume: 5, VolumeInsteadOf: 4,
			Resized: plan.Resized{
				Now: plan.Resources{CPU: 1250, Memory: 7 << 20}, Before: plan.Resources{CPU: 1001, Memory: 6 << 20}, Since: at, GivenUp: "why",
				InsteadOf: plan.Requirements{Requests: plan.Resources{CPU: 1000, Memory: 5 << 20}, Limits: plan.Resources{CPU: 2000}},
			},
			Patch: plan.Patch{
				Version: "3.6.16", InsteadOf: "3.6.15", Image: "etcd:v3.6.15@sha256:0123", Since: at, GivenUp: plan.GivenUpPatch{Version: "3.6.17", Because: "why"},
				Trial: plan.PatchTrial{Member: "c-1", PodUID: "uid", Began: at, Healthy: at, WasHealthy: true, Restarts: 7, Failing: at, Corrupt: true},
			},
		}))
	case []plan.RefusedPatch:
		v.Set(reflect.ValueOf([]plan.RefusedPatch{{Version: "3.6.14", Image: "etcd:v3.6.14", Since: at}}))
	case plan.Relocation:
		v.Set(reflect.ValueOf(plan.Relocation{Member: 7, Name: "text", Node: "node", Since: at, GivenUp: "why"}))
	case plan.Hibernation:
		v.Set(reflect.ValueOf(plan.Waking))
	case []string:
		v.Set(reflect.ValueOf([]string{"text"}))
	case *plan.Record:
	case string:
		v.SetString(`"text"`)
	case uint64:
		v.SetUint(7)
	case int64:
		v.SetInt(7)
	case bool:
		v.SetBool(true)
	default:
		if v.Type() != reflect.TypeOf(at) {
			t.Fatalf("it is a %T: say what is to be in it", kind)
		}
		v.Set(reflect.ValueOf(at))
	}
}
