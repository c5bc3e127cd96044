package stories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// handLimit is how long the operator may take to mend what was done behind its back: a member that never comes up is
// given two minutes, in case it does.
const handLimit = 5 * time.Minute

var handFaults = []fault{
	{
		family: "hand", name: "member-removed", title: "a member removed with etcdctl", gate: true, apart: true, spec: onVolumes(3),
		breaks: func(s *trial) {
			target := s.follower()
			id := s.memberID(target)
			s.byHand(func(ctx context.Context, etcd *clientv3.Client) error {
				_, err := etcd.MemberRemove(ctx, id)
				if errors.Is(err, rpctypes.ErrMemberNotFound) { // an earlier request has removed it, and its answer was lost
					return nil
				}
				return err
			})
			must(s.t, harness.Await(s.t.Context(), "another member in its place", limit, s.without(id)))
			s.replaced(target.UID)
		},
	},
	{
		family: "hand", name: "voter-added", title: "a voter added with etcdctl that nobody runs", spec: onVolumes(3),
		breaks: func(s *trial) {
			s.addStranger(func(ctx context.Context, etcd *clientv3.Client, url string) error {
				_, err := etcd.MemberAdd(ctx, []string{url})
				return err
			})
		},
	},
	{
		family: "hand", name: "learner-added", title: "a learner added with etcdctl that nobody runs", spec: onVolumes(3),
		breaks: func(s *trial) {
			s.addStranger(func(ctx context.Context, etcd *clientv3.Client, url string) error {
				_, err := etcd.MemberAddAsLearner(ctx, []string{url})
				return err
			})
		},
	},
	{
		family: "hand", name: "labels-edited", title: "the labels by which Services find a member removed from its pod",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			pod := s.follower()
			labels := maps.Clone(pod.Labels)
			s.breaking()
			s.change(&pod, func() { delete(pod.Labels, servingLabel); pod.Labels["etcd_node"] = "x" })
			s.restored(&corev1.Pod{}, pod.Name, func(o client.Object) bool { return maps.Equal(o.GetLabels(), labels) })
		},
	},
	{
		family: "hand", name: "labels-removed", title: "all labels removed from a member's pod", spec: onVolumes(3),
		breaks: func(s *trial) {
			pod := s.follower()
			s.breaking()
			s.change(&pod, func() { pod.Labels = nil })
			s.restored(&corev1.Pod{}, pod.Name, func(o client.Object) bool { return o.GetLabels()["etcd_cluster"] == s.Name })
		},
	},
	{
		family: "hand", name: "selector-changed", title: "the client Service's selector changed to match nobody",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.editService(s.Name+"-client", func(spec *corev1.ServiceSpec) { spec.Selector["etcd_cluster"] = "nobody" })
		},
	},
	{
		family: "hand", name: "selector-added", title: "a key added to the client Service's selector that no pod has",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.editService(s.Name+"-client", func(spec *corev1.ServiceSpec) { spec.Selector["stranger"] = "yes" })
		},
	},
	{
		family: "hand", name: "port-changed", title: "the client Service's port led elsewhere",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.editService(s.Name+"-client", func(spec *corev1.ServiceSpec) { spec.Ports[0].TargetPort = intstr.FromInt32(1) })
		},
	},
	{
		family: "hand", name: "services-deleted", title: "both Services and the budget deleted",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.breaking()
			s.deleted(s.Name, &corev1.Service{})
			s.deleted(s.Name+"-client", &corev1.Service{})
			s.deleted(s.Name, &policyv1.PodDisruptionBudget{})
		},
	},
	{
		family: "hand", name: "budget-edited", title: "the budget opened wide", spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			budget := &policyv1.PodDisruptionBudget{}
			must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, budget))
			want := budget.Spec.MinAvailable.IntValue()
			s.breaking()
			none := intstr.FromInt32(0)
			s.change(budget, func() { budget.Spec.MinAvailable = &none })
			s.restored(budget, s.Name, func(client.Object) bool { return budget.Spec.MinAvailable.IntValue() == want })
		},
	},
	{
		family: "hand", name: "strangers", title: "a pod and a copied claim with the cluster's labels, and a member's claim and pod lost",
		spec: onVolumes(3), breaks: (*trial).amongStrangers,
	},
	{
		family: "hand", name: "storm", title: "hundreds of events at once: 200 Secrets made, 200 edits of the pods",
		spec:   v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) { s.storm() },
	},
}

// byHand changes the membership once etcd lets it: its members must have been connected for five seconds.
func (s *trial) byHand(change func(context.Context, *clientv3.Client) error) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "etcd lets the membership change", limit, func(ctx context.Context) (string, bool) {
		err := s.Ask(ctx, change)
		return fmt.Sprint(err), err == nil
	}))
	s.breaking()
}

func (s *trial) memberID(pod corev1.Pod) uint64 {
	s.t.Helper()
	members, err := s.Members(s.t.Context())
	must(s.t, err)
	for _, m := range members.Members {
		if m.Name == pod.Name {
			return m.ID
		}
	}
	s.t.Fatalf("etcd lists no %s", pod.Name)
	return 0
}

// without holds when etcd lists as many voters as asked for, and none under that ID.
func (s *trial) without(id uint64) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		members, err := s.Members(ctx)
		if err != nil {
			return err.Error(), false
		}
		voters := 0
		for _, m := range members.Members {
			if m.ID == id {
				return fmt.Sprintf("%x is still listed", id), false
			}
			if !m.IsLearner {
				voters++
			}
		}
		return fmt.Sprintf("%d voters", voters), voters == int(s.spec.Size)
	}
}

// addStranger puts someone on etcd's list who never comes.
func (s *trial) addStranger(add func(context.Context, *clientv3.Client, string) error) {
	s.t.Helper()
	before := s.identities()
	url := "http://stranger." + s.Namespace + ".svc:2380"
	s.byHand(func(ctx context.Context, etcd *clientv3.Client) error { return add(ctx, etcd, url) })
	must(s.t, harness.Await(s.t.Context(), "the stranger removed", handLimit, func(ctx context.Context) (string, bool) {
		members, err := s.Members(ctx)
		if err != nil {
			return err.Error(), false
		}
		there := slices.ContainsFunc(members.Members, func(m *etcdserverpb.Member) bool {
			return slices.Contains(m.PeerURLs, url)
		})
		object, err := s.Cluster.Get(ctx)
		return fmt.Sprintf("%d members, %s, %v", len(members.Members), harness.Words(object), err), !there
	}))
	s.recover()
	s.same(before)
}

// change changes an object as a user would.
func (s *trial) change(o client.Object, change func()) {
	s.t.Helper()
	before := o.DeepCopyObject().(client.Object)
	change()
	must(s.t, s.Patch(s.t.Context(), o, client.MergeFrom(before)))
}

// restored waits until an object is as it was, and the cluster as asked for. It reads into o.
func (s *trial) restored(o client.Object, name string, is func(client.Object) bool) {
	s.t.Helper()
	key := client.ObjectKey{Namespace: s.Namespace, Name: name}
	must(s.t, harness.Await(s.t.Context(), name+" as it was", limit, func(ctx context.Context) (string, bool) {
		err := s.Client.Get(ctx, key, o)
		return fmt.Sprintf("labels %v, %v", o.GetLabels(), err), err == nil && is(o)
	}))
	s.recover()
}

// deleted deletes an object, and waits until there is another of that name.
func (s *trial) deleted(name string, o client.Object) {
	s.t.Helper()
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, o))
	uid := o.GetUID()
	must(s.t, s.Client.Delete(s.t.Context(), o))
	s.restored(o, name, func(o client.Object) bool { return o.GetUID() != uid })
}

// editService changes a Service, and waits until it is as it was.
func (s *trial) editService(name string, change func(*corev1.ServiceSpec)) {
	s.t.Helper()
	service := &corev1.Service{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, service))
	want := service.Spec.DeepCopy()
	s.breaking()
	s.change(service, func() { change(&service.Spec) })
	s.restored(service, name, func(client.Object) bool {
		return maps.Equal(service.Spec.Selector, want.Selector) && service.Spec.Ports[0].TargetPort == want.Ports[0].TargetPort
	})
}

// gone waits until the object of that UID is no more.
func (s *trial) gone(key client.ObjectKey, uid types.UID) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "claim "+key.Name+" gone", limit, func(ctx context.Context) (string, bool) {
		claim := &corev1.PersistentVolumeClaim{}
		err := s.Client.Get(ctx, key, claim)
		return fmt.Sprintf("%v, deleted at %v", err, claim.DeletionTimestamp), err != nil || claim.UID != uid
	}))
}
