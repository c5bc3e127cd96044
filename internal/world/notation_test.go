package world

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// actions are one of each kind.
var actions = []plan.Action{
	plan.Idle{},
	plan.Wait{},
	plan.Blocked{},
	plan.CommitBootstrap{},
	plan.CreateRestore{},
	plan.CancelRestore{},
	plan.ContinueRestore{},
	plan.RecordClusterID{},
	plan.Adopt{},
	plan.CommitVoters{},
	plan.CommitTransport{},
	plan.CommitTuning{},
	plan.CommitHibernation{},
	plan.CommitRelocation{},
	plan.UpdatePeerURL{},
	plan.CreateVolumes{},
	plan.CreatePods{},
	plan.WritePermits{},
	plan.AddToService{},
	plan.RemoveFromService{},
	plan.AddLearner{},
	plan.Promote{},
	plan.MoveLeader{},
	plan.RemoveMember{},
	plan.DeletePod{},
	plan.DeleteVolume{},
	plan.MarkQuarantined{},
	plan.SetMetadata{},
	plan.Resize{},
	plan.SetImage{},
	plan.Recreate{},
	plan.CorrectMark{},
	plan.Expand{},
	plan.PrepullImages{},
	plan.DeletePrepullPod{},
	plan.EnableDowngrade{},
	plan.CancelDowngrade{},
	plan.SetBudget{},
	plan.Compact{},
	plan.Defragment{},
	plan.Quarantine{},
	plan.Disarm{},
}

// words are the fields that are only told: what is decided is the same whatever they hold. Of RecordClusterID and CancelRestore that is what is
// kept, which follows from the record and from what is observed, and CommitBootstrap's is why what was held is not known to be
// saved. By whether a problem is terminal nobody goes who carries out what is decided.
var words = []string{
	"Blocked.Message", "Blocked.Terminal", "CancelRestore.KeptVolumes", "CancelRestore.Why.Message", "CancelRestore.Why.Terminal", "CommitBootstrap.UnsavedReason",
	"CommitHibernation.Members", "CommitRelocation.Relocation.Since", "CommitRelocation.Relocation.Successor", "CommitTuning.Because",
	"CommitTuning.From", "CommitTuning.FromResources.CPU", "CommitTuning.FromResources.Memory", "CommitTuning.FromVersion", "CommitTuning.FromVolume",
	"CommitTuning.Member", "CommitTuning.Refused.Image", "CommitTuning.Refused.Since", "CommitTuning.Tuned.Patch.GivenUp.Because", "CommitTuning.Tuned.Patch.GivenUp.Version", "CommitTuning.Tuned.Patch.Image", "CommitTuning.Tuned.Patch.Since",
	"CommitTuning.Tuned.Patch.Trial.Began", "CommitTuning.Tuned.Patch.Trial.Corrupt", "CommitTuning.Tuned.Patch.Trial.Failing", "CommitTuning.Tuned.Patch.Trial.Healthy",
	"CommitTuning.Tuned.Patch.Trial.Member", "CommitTuning.Tuned.Patch.Trial.PodUID", "CommitTuning.Tuned.Patch.Trial.Restarts", "CommitTuning.Tuned.Patch.Trial.WasHealthy",
	"CommitTuning.Tuned.Resized.Since",
	"ContinueRestore.Why.Message", "ContinueRestore.Why.Terminal", "Defragment.Free", "Defragment.Pause", "Disarm.Name", "Idle.Message", "MoveLeader.FromName",
	"MoveLeader.ToName", "RecordClusterID.KeptVolumes", "RecordClusterID.Unsaved", "Wait.Message",
}

// TestNotationTellsActionsApart changes every field of every action, one at a time.
func TestNotationTellsActionsApart(t *testing.T) {
	same := map[string]bool{}
	seen := map[string]plan.Action{}
	for _, a := range actions {
		whole := reflect.New(reflect.TypeOf(a)).Elem()
		fill(whole)
		noted := func() string { return Notation(whole.Interface().(plan.Action)) } //nolint:forcetypeassert // it is a copy of one
		before := noted()
		if other, ok := seen[before]; ok {
			t.Errorf("%T and %T are both %q", a, other, before)
		}
		seen[before] = a
		vary(whole, whole.Type().Name(), func(at string) {
			if noted() == before {
				same[at] = true
			}
		})
		if noted() != before {
			t.Fatalf("the test has not put back %T as it was", a)
		}
	}
	if got := slices.Sorted(maps.Keys(same)); !slices.Equal(got, words) {
		t.Errorf("no notation tells apart what differs in\n%q, and that is to be so for\n%q", got, words)
	}
}

// TestNotationKnowsTheseActions has the list above be whole: the linter sees to it that Notation has a case for each.
func TestNotationKnowsTheseActions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "notation.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cases, listed []string
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, kind := range c.List {
				if s, ok := kind.(*ast.SelectorExpr); ok && s.Sel.IsExported() && s.Sel.Name != "Duration" {
					cases = append(cases, s.Sel.Name)
				}
			}
		}
		return true
	})
	for _, a := range actions {
		listed = append(listed, reflect.TypeOf(a).Name())
	}
	slices.Sort(cases)
	slices.Sort(listed)
	if !slices.Equal(cases, listed) {
		t.Errorf("Notation knows\n%s, and the test\n%s", strings.Join(cases, " "), strings.Join(listed, " "))
	}
}

// fill puts something everywhere, and one element into each list.
func fill(v reflect.Value) {
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = base
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(f)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("an action has a " + v.Kind().String())
	}
}

// vary changes what is in there, one thing after the other, calls back with where that is, and puts it back.
func vary(v reflect.Value, at string, changed func(at string)) {
	if when, ok := v.Addr().Interface().(*time.Time); ok {
		*when = base.Add(time.Hour)
		changed(at)
		*when = base
		return
	}
	if v.Kind() == reflect.Struct {
		for field, f := range v.Fields() {
			vary(f, at+"."+field.Name, changed)
		}
		return
	}
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	set := func(to reflect.Value) {
		v.Set(to)
		changed(at)
		v.Set(before)
	}
	switch v.Kind() {
	case reflect.Pointer:
		set(reflect.Zero(v.Type()))
		vary(v.Elem(), at, changed)
	case reflect.Slice:
		set(reflect.Zero(v.Type()))
		set(reflect.Append(v, v.Index(0)))
		vary(v.Index(0), at, changed)
	case reflect.String:
		set(reflect.ValueOf("other").Convert(v.Type()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		set(reflect.ValueOf(8).Convert(v.Type()))
	case reflect.Uint64:
		set(reflect.ValueOf(uint64(8)).Convert(v.Type()))
	default:
		set(reflect.ValueOf(!v.Bool()))
	}
}
