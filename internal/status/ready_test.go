package status

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestReady wants Ready to be true only of what is available and as the spec asks, and to say what matters most.
func TestReady(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	for title, c := range map[string]struct {
		edit            func(*Input)
		ready           metav1.ConditionStatus
		reason, message string
	}{
		"as asked": {func(*Input) {}, yes, v1beta2.ReasonSpecReached, ""},
		"a member is down": {
			func(in *Input) { *in = threeMembers() }, no, v1beta2.ReasonMemberDown, "member m-2 is not healthy: etcd does not answer; check its log: kubectl logs m-2 -c etcd",
		},
		"an update": {func(in *Input) {
			in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForMember, Message: "m-2"}
		}, no, v1beta2.ReasonWaitingForMember, "m-2"},
		"a spec that cannot be carried out": {func(in *Input) {
			in.Action = plan.Blocked{Reason: v1beta2.ReasonInvalidOption, Message: "spec.etcd"}
		}, no, v1beta2.ReasonInvalidOption, "spec.etcd"},
		"an alarm": {func(in *Input) {
			alarmed(in, plan.AlarmNoSpace)
			problem := plan.Assess(in.Observed).Alarm
			in.Action = plan.Blocked(*problem)
		}, no, v1beta2.ReasonNoSpace, ""},
		"a switch": {func(in *Input) {
			in.Observed.Cluster.SpecTransport = member.Transport{PeerTLS: true, ClientTLS: true}
			in.Observed.Pods[0].Transport = in.Observed.Cluster.SpecTransport
			in.Action = plan.Wait{Reason: v1beta2.ReasonSwitchingTransport, Message: "waiting"}
		}, no, v1beta2.ReasonSwitchingTransport, "waiting; switching to TLS for peers and clients; still to follow: m-0"},
		"clients may do without TLS": {func(in *Input) {
			open := member.Transport{PeerTLS: true, ClientTLS: true, ClientBoth: true}
			in.Cluster.Status.Transport, in.Observed.Cluster.SpecTransport = new(v1beta2.TransportStatus(open)), open
			for i := range in.Observed.Pods {
				in.Observed.Pods[i].Transport = open
			}
		}, yes, v1beta2.ReasonSpecReached, "; clients may connect without TLS (spec.tls.plaintextClients)"},
		"paused": {func(in *Input) {
			in.Cluster.Spec.Paused = true
			in.Action = plan.Idle{Reason: v1beta2.ReasonPaused, Message: "paused"}
		}, no, v1beta2.ReasonPaused, "paused"},
		"hibernated": {func(in *Input) {
			in.Cluster.Spec.Hibernate, in.Cluster.Status.Hibernation, in.Observed.Etcd = true, "Hibernated", plan.Etcd{Contact: plan.ContactNone}
			in.Action = plan.Idle{Reason: v1beta2.ReasonHibernated, Message: "all are stopped"}
		}, no, v1beta2.ReasonHibernated, "all are stopped"},
		"to hibernate later": {func(in *Input) {
			in.Cluster.Spec.Hibernate = true
			in.Action = plan.Wait{Reason: v1beta2.ReasonMemberDown, Message: "m-2"}
		}, no, v1beta2.ReasonMemberDown, "m-2; spec.hibernate waits until all members are healthy and nothing else is under way"},
		"going": {func(in *Input) {
			in.Action = plan.Idle{Reason: v1beta2.ReasonTerminating, Message: "going"}
		}, no, v1beta2.ReasonTerminating, "going"},
		"a step failed": {func(in *Input) { in.Err = errors.New("no") }, no, v1beta2.ReasonActionFailed, "no"},
		"a Service that cannot be": {func(in *Input) {
			in.Rejected = &failure.Problem{Reason: v1beta2.ReasonInvalidService, Message: "spec.services.client"}
		}, no, v1beta2.ReasonInvalidService, "spec.services.client"},
		"a write that is refused": {
			func(in *Input) { refusing(in, "m-0") }, no, v1beta2.ReasonWriteRefused,
			"the API server refuses to create Pod m-0: exceeded quota",
		},
		"a slow disk": {func(in *Input) {
			in.Observed.Etcd.Disks = []plan.Disk{{Pod: "m-1", PodUID: "m-1", Watched: time.Minute, FlushTime: time.Second}}
		}, yes, v1beta2.ReasonDiskSlow, "the disk of leader m-1 is slow: an fsync takes more than 100ms"},
		"a stranger's pod": {func(in *Input) {
			in.Observed.Conflicts = []plan.Conflict{{Kind: plan.KindPod, Name: "x", Owner: "y"}}
		}, yes, v1beta2.ReasonStrangerPod, ""},
		"no quorum": {func(in *Input) {
			in.Observed.Etcd = plan.Etcd{Contact: plan.ContactNone}
			in.Action = plan.Wait{Reason: v1beta2.ReasonQuorumLost, Message: "2 of 3"}
		}, no, v1beta2.ReasonQuorumLost, "2 of 3"},
		"not up yet": {func(in *Input) {
			in.Cluster.Status.ClusterID, in.Observed.Etcd = "", plan.Etcd{}
			in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "m-0"}
		}, no, v1beta2.ReasonWaitingForPods, "m-0"},
	} {
		t.Run(title, func(t *testing.T) {
			in := allAnswer()
			c.edit(&in)
			got := meta.FindStatusCondition(compute(in).Conditions, v1beta2.ConditionReady)
			if got == nil || got.Status != c.ready || got.Reason != c.reason || c.message != "" && got.Message != c.message {
				t.Errorf("got %+v, want %s %s %q", got, c.ready, c.reason, c.message)
			}
		})
	}
}

// TestStorage wants the volatile to be called so, as long as any member is.
func TestStorage(t *testing.T) {
	for title, c := range map[string]struct {
		wanted bool
		pods   []bool
		want   v1beta2.MemberStorage
	}{
		"to be on volumes": {true, nil, v1beta2.MemberStoragePVC},
		"to be on none":    {false, nil, v1beta2.MemberStorageEmptyDir},
		"on volumes":       {true, []bool{true, true}, v1beta2.MemberStoragePVC},
		"getting volumes":  {true, []bool{true, false}, v1beta2.MemberStorageEmptyDir},
		"losing volumes":   {false, []bool{true, true}, v1beta2.MemberStoragePVC},
	} {
		in := Input{Cluster: &v1beta2.EtcdCluster{}, Action: plan.Idle{Reason: v1beta2.ReasonSpecReached}}
		in.Observed.Cluster.Persistent = c.wanted
		for _, persistent := range c.pods {
			in.Observed.Pods = append(in.Observed.Pods, plan.Pod{Persistent: persistent})
		}
		if got := compute(in).Storage; got != c.want {
			t.Errorf("%s: %s, want %s", title, got, c.want)
		}
	}
}
