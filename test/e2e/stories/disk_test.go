package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// slowFlush is what a flush takes on a disk that is far too slow for etcd.
	slowFlush = 300 * time.Millisecond
	// badFor is how long a disk stays slow or full.
	badFor = 20 * time.Second
)

var diskFaults = []fault{
	{
		family: "disk", name: "wiped", title: "a volume wiped under a running member, and its process killed", gate: true,
		apart: true, spec: onVolumes(3),
		breaks: func(s *trial) {
			target := s.follower()
			before := s.identities()[target.Name]
			s.breaking()
			must(s.t, nodes.Faults().WipeVolume(s.t.Context(), s.Namespace+"/"+target.Name))
			must(s.t, nodes.Faults().KillContainer(s.t.Context(), s.container(target.Name)))
			s.replaced(target.UID)
			for name, id := range s.identities() {
				if id == before {
					s.t.Errorf("%s came back on an empty volume under the old ID", name)
				}
			}
		},
	},
	{
		family: "disk", name: "claim-lost", title: "the leader's claim and pod deleted", spec: onVolumes(3),
		breaks: func(s *trial) {
			target := s.leaderElsewhere()
			s.breaking()
			must(s.t, s.Client.Delete(s.t.Context(), s.claim(target.Name)))
			must(s.t, s.KillPod(s.t.Context(), target.Name))
			s.replaced(target.UID)
		},
	},
	{
		family: "disk", name: "claim-deleted", title: "a claim deleted by hand while its pod runs", spec: onVolumes(3),
		breaks: func(s *trial) {
			target := s.follower()
			claim := s.claim(target.Name)
			s.breaking()
			must(s.t, s.Client.Delete(s.t.Context(), claim))
			s.gone(client.ObjectKeyFromObject(claim), claim.UID)
			s.recover()
		},
	},
	{
		family: "disk", name: "corrupt-wal", title: "a follower's write-ahead log damaged, and its process killed",
		spec: onVolumes(3), breaks: func(s *trial) { s.corrupt(nodes.Faults().CorruptWAL) },
	},
	{
		family: "disk", name: "corrupt-db", title: "a follower's database damaged, and its process killed",
		spec: onVolumes(3), breaks: func(s *trial) { s.corrupt(nodes.Faults().CorruptDB) },
	},
	{
		family: "disk", name: "full", title: "a follower's disk full, and emptied once it was missed", spec: onDisks(),
		prepares: func(t *testing.T) { disks(t, "full") },
		breaks: func(s *trial) {
			before, target := s.identities(), s.follower()
			disk := s.disk(target)
			s.breaking()
			must(s.t, nodes.Disks().Fill(s.t.Context(), disk))
			s.grow()
			s.notices(target.Name)
			s.hold(badFor)
			must(s.t, nodes.Disks().Free(s.t.Context(), disk))
			s.recover()
			s.same(before)
		},
	},
	{
		family: "disk", name: "slow", title: "the leader's disk slow for 20 s: 300 ms a flush", spec: onDisks(),
		prepares: func(t *testing.T) { disks(t, "slow") }, breaks: func(s *trial) { s.badDisk(slowFlush, s.aWhile) },
	},
	{
		family: "disk", name: "hangs", title: "the leader's disk hangs for 20 s", spec: onDisks(),
		prepares: func(t *testing.T) { disks(t, "hangs") }, breaks: func(s *trial) { s.badDisk(time.Hour, s.aWhile) },
	},
	{
		family: "disk", name: "slow-leader", title: "the leader's disk slow, 300 ms a flush, until another member led", spec: onDisks(),
		prepares: func(t *testing.T) { disks(t, "slow-leader") },
		breaks: func(s *trial) {
			s.badDisk(slowFlush, func(leader corev1.Pod) {
				must(s.t, harness.Await(s.t.Context(), "another member leads", limit, s.anotherLeads(leader.Name)))
			})
		},
	},
	{
		family: "disk", name: "stuck", title: "the leader's disk hangs until its process was ended", spec: onDisks(),
		prepares: func(t *testing.T) { disks(t, "stuck") },
		breaks: func(s *trial) {
			const settled = 2 * time.Minute // a younger pod is left alone
			s.hold(settled)
			s.badDisk(time.Hour, func(leader corev1.Pod) {
				must(s.t, harness.Await(s.t.Context(), "its pod is ended", limit, s.ended(leader.UID)))
			})
		},
	},
	{
		family: "disk", name: "late", title: "a claim and its pod deleted, and no volume for another one for a minute",
		spec: onDisks(), prepares: func(t *testing.T) { disks(t, "late") },
		breaks: func(s *trial) {
			target := s.follower()
			s.breaking()
			must(s.t, s.Client.Delete(s.t.Context(), s.claim(target.Name)))
			must(s.t, s.KillPod(s.t.Context(), target.Name))
			s.hold(time.Minute)
			disks(s.t, "late-too")
			s.replaced(target.UID)
		},
	},
	{
		family: "disk", name: "slow-class", title: "a claim and its pod deleted where a volume takes two minutes",
		spec: onSlowClass(), prepares: func(t *testing.T) { delayVolumes(t, 0) },
		breaks: func(s *trial) {
			delayVolumes(s.t, lab.SlowDelay)
			target := s.follower()
			s.breaking()
			must(s.t, s.Client.Delete(s.t.Context(), s.claim(target.Name)))
			must(s.t, s.KillPod(s.t.Context(), target.Name))
			s.replaced(target.UID)
			if took := time.Since(s.broken); took < lab.SlowDelay {
				s.t.Errorf("a new volume was there after %v", took)
			}
		},
	},
}

// delayVolumes makes the volumes of the slow class take so long, until the story's end.
func delayVolumes(t *testing.T, delay time.Duration) {
	t.Helper()
	must(t, nodes.Faults().DelayVolumes(t.Context(), delay))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Faults().DelayVolumes(ctx, lab.SlowDelay); err != nil {
			t.Error(err)
		}
	})
}

// corrupt damages a follower's data and ends its process, and waits for someone else in its place.
func (s *trial) corrupt(damage func(context.Context, string) error) {
	s.t.Helper()
	s.grow()
	target := s.follower()
	s.breaking()
	must(s.t, damage(s.t.Context(), s.Namespace+"/"+target.Name))
	if err := nodes.Faults().KillContainer(s.t.Context(), s.container(target.Name)); err != nil {
		s.t.Logf("etcd may have found the damage and ended before that: %v", err)
	}
	s.notices(target.Name)
	s.replaced(target.UID)
}

func (s *trial) aWhile(corev1.Pod) { s.hold(badFor) }

// badDisk makes the leader's disk slow until something has happened.
func (s *trial) badDisk(flush time.Duration, until func(leader corev1.Pod)) {
	s.t.Helper()
	before, leader := s.identities(), s.leaderElsewhere()
	disk := s.disk(leader)
	s.healsAtEnd(leader.Spec.NodeName)
	s.breaking()
	must(s.t, nodes.Disks().Slow(s.t.Context(), disk, flush))
	until(leader)
	must(s.t, nodes.Disks().Fast(s.t.Context(), disk))
	s.recover()
	s.same(before)
}

// diskSize is small, so that it is soon filled, and holds two of etcd's write-ahead logs of 64 MB each and some data.
const diskSize = 300 << 20

// onDisks is a cluster of three whose members have disks of their own, with an end.
func onDisks() v1beta2.EtcdClusterSpec {
	spec := onClass(lab.DiskClass)
	claim := spec.Pod.PersistentVolumeClaimSpec
	claim.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(diskSize, resource.BinarySI)}
	return spec
}

func onSlowClass() v1beta2.EtcdClusterSpec { return onClass(lab.SlowClass) }

func onClass(class string) v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.Pod.PersistentVolumeClaimSpec.StorageClassName = &class
	return spec
}

// disks gives every node a disk.
func disks(t *testing.T, name string) {
	t.Helper()
	for _, node := range nodes.Nodes() {
		must(t, nodes.Disks().Create(t.Context(), node+"/"+name, diskSize))
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			if err := nodes.Disks().Remove(ctx, node+"/"+name); err != nil {
				t.Error(err)
			}
		})
	}
}

// disk is the one that a member's data is on.
func (s *story) disk(pod corev1.Pod) string {
	s.t.Helper()
	disk, err := nodes.Disks().Of(s.t.Context(), s.Namespace+"/"+pod.Name)
	must(s.t, err)
	return disk
}

// grow writes some megabytes, so that the members' databases grow.
func (s *trial) grow() {
	s.t.Helper()
	const values, size = 24, 1 << 20
	for n := range values {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("big/%d", n), strings.Repeat("x", size))
			return err
		}))
	}
}
