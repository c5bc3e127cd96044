package plan

import (
	"reflect"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestEffects has what is relied upon come first, and each effect be about the very object that was seen.
func TestEffects(t *testing.T) {
	permit := PodPermit{Pod: "c-1", UID: "p1", Permit: member.Permit{Mode: member.ModeJoin, ClusterID: 7, MemberID: 8}}
	recreated, updated := Recreate{Name: "c-1", UID: "p1", Version: "3.7.3"}, SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"}
	resume := func(i int) *member.Permit {
		return &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(i))}
	}
	mark := MarkVolume{Name: "c-1", UID: "v1", Version: "3.7.3"}
	ofSpec := mark
	ofSpec.Template = MarkSpecTemplate
	for title, c := range map[string]struct {
		action     Action
		persistent bool
		want       []Effect
	}{
		"nothing":     {action: Wait{Reason: "R"}},
		"only a note": {action: RecordClusterID{ClusterID: 7}, want: []Effect{WriteStatus{}}},
		"one effect":  {action: DeletePod{Name: "c-1", UID: "p1"}, want: []Effect{DeletePod{Name: "c-1", UID: "p1"}}},
		"adopted before that is noted": {
			action: Adopt{ClusterID: 7, Volumes: []string{"c-0", "c-1"}}, persistent: true,
			want: []Effect{AdoptVolume{"c-0", "v0"}, AdoptVolume{"c-1", "v1"}, WriteStatus{}},
		},
		"a volume says whose it is before anybody writes to it": {
			action: WritePermits{[]PodPermit{permit}}, persistent: true,
			want: []Effect{MarkVolume{"c-1", "v1", 7, 8, "3.6.16", MarkPodTemplate}, WritePermit{permit}},
		},
		"on an emptyDir there is no volume": {
			action: WritePermits{[]PodPermit{permit}}, want: []Effect{WritePermit{permit}},
		},
		"a volume has the version before its pod has it": {
			action: updated, persistent: true, want: []Effect{mark, ChangeImage(updated)},
		},
		"a volume has the spec before its pod goes": {
			action: recreated, persistent: true, want: []Effect{ofSpec, DeletePod{Name: "c-1", UID: "p1"}},
		},
		"each that is served": {
			action: AddToService{[]string{"c-0", "c-2"}}, persistent: true, want: []Effect{AddPodToService{"c-0", "p0", resume(0)}, AddPodToService{"c-2", "p2", resume(2)}},
		},
		"each that grows": {action: Expand{[]string{"c-2"}}, persistent: true, want: []Effect{ExpandVolume{"c-2", "v2"}}},
	} {
		if got := Effects(c.action, healthyCluster(3, c.persistent)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the effects are\n%+v, not\n%+v", title, got, c.want)
		}
	}
}

// TestEveryActionHasEffects has none forgotten: the linter wants each to be in the list, and here it is carried out, too.
func TestEveryActionHasEffects(t *testing.T) {
	for _, a := range []Action{
		CreateRestore{},
		RemoveFromService{},
		AddLearner{},
		Promote{},
		MoveLeader{},
		RemoveMember{},
		DeletePod{},
		DeleteVolume{},
		MarkQuarantined{},
		SetMetadata{},
		Resize{},
		DeletePrepullPod{},
		EnableDowngrade{},
		CancelDowngrade{},
		SetBudget{},
		CommitBootstrap{},
		CancelRestore{},
		ContinueRestore{},
		RecordClusterID{},
		CommitVoters{},
		CommitTransport{},
		UpdatePeerURL{},
		Adopt{},
		SetImage{},
		Recreate{},
		CreateVolumes{Names: []string{"c-0"}},
		CreatePods{[]NewPod{{}}},
		WritePermits{[]PodPermit{{}}},
		AddToService{[]string{"c-0"}},
		Expand{[]string{"c-0"}},
		PrepullImages{[]NodeImage{{}}},
	} {
		if !Mutates(a) || len(Effects(a, Observed{})) == 0 {
			t.Errorf("%T changes nothing", a)
		}
	}
}

// TestServedOnResumePermit leaves a pod alone whose permit needs the member's data already, and one of which it is not known that it has any.
func TestServedOnResumePermit(t *testing.T) {
	o := healthyCluster(3, true)
	o.Pods[0].Permit, o.Pods[1].Permit = nil, &member.Permit{Mode: member.ModeResume, ClusterID: 7, MemberID: 8}
	want := []Effect{AddPodToService{"c-0", "p0", nil}, AddPodToService{"c-1", "p1", nil}}
	if got := Effects(AddToService{[]string{"c-0", "c-1"}}, o); !reflect.DeepEqual(got, want) {
		t.Errorf("the effects are %+v", got)
	}
}
