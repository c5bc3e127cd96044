package stories

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// withoutPower ends the node of a member, which has neither Prometheus nor the operator.
func (s *alerted) withoutPower() {
	prometheus, operator := s.prometheusNode(), s.operatorNode()
	s.takes(fmt.Sprintf("alone on a node without Prometheus (%s) and the operator (%s)", prometheus, operator), func(pod corev1.Pod, all []corev1.Pod) bool {
		return pod.Spec.NodeName != prometheus && pod.Spec.NodeName != operator && alone(pod, all)
	})
	node := s.pod.Spec.NodeName
	s.t.Cleanup(func() { s.boots(node) })
	must(s.t, nodes.Faults().KillNode(s.t.Context(), node))
}

// boots heals a node, and waits until Kubernetes knows all of them.
func (s *alerted) boots(node string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	err := nodes.Faults().HealNode(ctx, node)
	err = errors.Join(err, harness.Await(ctx, node+" is there again", limit, func(ctx context.Context) (string, bool) {
		_, err := env.Kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		return fmt.Sprint(err), err == nil
	}))
	if err != nil {
		s.t.Error(err)
	}
}

// doesWithoutNode has the node be gone for good, and the operator replace the member. Nothing critical was told since the node was lost.
func (s *alerted) doesWithoutNode() {
	s.runs("delete node", "")
	must(s.t, harness.Await(s.t.Context(), "all members are healthy", 2*limit, s.ready(3)))
	s.noneCritical()
}

// withBackup is a cluster with a backup.
func (s *alerted) withBackup() {
	s.cluster("lost", onVolumes(3))
	s.puts("before", 10)
	s.backup("nightly", s.volume(), nil)
	s.backedUp("nightly")
	s.words["BACKUP"] = "nightly"
}

// losesMajority wipes the volumes of two of three members. Both are frozen before: the first one alone would be replaced.
func (s *alerted) losesMajority() {
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	lost := pods[:2]
	s.pod = lost[0]
	for _, pod := range lost {
		must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), s.container(pod.Name)))
	}
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonQuorumLost)
	for _, pod := range lost {
		must(s.t, nodes.Faults().WipeVolume(s.t.Context(), s.Namespace+"/"+pod.Name))
	}
	for _, pod := range lost {
		must(s.t, nodes.Faults().KillContainer(s.t.Context(), s.container(pod.Name)))
	}
}

// restores has the backup take the place of what is left.
func (s *alerted) restores() {
	s.runs("EtcdRestore", "")
	s.healthy("restored")
	s.has("before", 10)
}

// withQuota is a cluster with a small quota, in which nobody but the story makes room.
func (s *alerted) withQuota() {
	quota := resource.MustParse("16Mi")
	name, spec := "refused", onVolumes(3)
	if s.alert == "EtcdSpaceLow" {
		name, spec = "filling", onVolumes(1)
	}
	spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}
	spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	s.cluster(name, spec)
}

// withAdvice is a cluster with a small quota, in which Auto Pilot only says how it would make room.
func (s *alerted) withAdvice() {
	spec := smallQuota("3.7.3")
	spec.Autopilot = &v1beta2.AutopilotSpec{NoSpace: &v1beta2.NoSpaceAutopilot{}}
	spec.Autopilot.NoSpace.Mode = v1beta2.AutopilotAdvise
	s.cluster("advised", spec)
	s.words["FEATURE"] = "noSpace"
}

// fillsWithHistory overwrites keys until etcd refuses to.
func (s *alerted) fillsWithHistory() {
	s.exhausts()
	s.look("full")
}

// letsItAct has Auto Pilot make room: with what is free, or with history, which is old enough a few minutes after it was written.
func (s *alerted) letsItAct() {
	s.runs(`"mode":"On"`, "")
	must(s.t, s.Says(s.t.Context(), v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum, alertLimit))
}

// fillsAll writes until etcd refuses more.
func (s *alerted) fillsAll() {
	s.fillQuota()
	s.look("full")
}

// makesRoom deletes what was written, and gives the room back.
func (s *alerted) makesRoom() {
	s.cure()
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum)
}

// fillsMost writes keys that stay, until they take up more than the alert is for, and less than the quota.
func (s *alerted) fillsMost() {
	const size, most, share = 64 << 10, 1000, 0.85
	quota := s.asked().Etcd.QuotaBackendBytes.Value()
	for i := range most {
		used := int64(0)
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			if _, err := etcd.Put(ctx, fmt.Sprintf("big/%d", i), strings.Repeat("x", size)); err != nil {
				return err
			}
			status, err := etcd.Status(ctx, etcd.Endpoints()[0])
			if err == nil {
				used = status.DbSizeInUse
			}
			return err
		}))
		if float64(used) > share*float64(quota) {
			s.look("filling")
			return
		}
	}
	s.t.Fatalf("%d keys of %d bytes do not take up %.0f %% of %d bytes", most, size, 100*share, quota)
}

// raisesQuota has more room for them.
func (s *alerted) raisesQuota() {
	s.runs("quotaBackendBytes", "")
	must(s.t, s.Updated(s.t.Context(), limit))
}

// withVersion is a cluster whose version can be changed.
func (s *alerted) withVersion() {
	s.cluster("blocked", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"})
	s.words["VERSION"] = "3.6.16"
}

// asksForNoImage asks for a version that no registry has.
func (s *alerted) asksForNoImage() {
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.99" })
}

// takesVersionBack takes the edit back.
func (s *alerted) takesVersionBack() {
	s.runs(`"version"`, "")
	s.settled()
}

// onSlowVolumes is a cluster with a volume of a class that makes no further one for a long time.
func (s *alerted) onSlowVolumes() {
	delayVolumes(s.t, 0)
	spec := onSlowClass()
	spec.Size = 1
	s.cluster("stuck", spec)
	s.words["SIZE"] = "1"
}

// growsInVain asks for members that get no volume.
func (s *alerted) growsInVain() {
	const never = 30 * time.Minute
	delayVolumes(s.t, never)
	s.resize(3)
}

// takesSizeBack takes the edit back.
func (s *alerted) takesSizeBack() {
	s.runs(`"size"`, "")
	s.settled()
}

// withSchedule is a cluster that is backed up again and again, with credentials of its own.
func (s *alerted) withSchedule() {
	s.cluster("scheduled", v1beta2.EtcdClusterSpec{Size: 1})
	s.every("often", s.minio(), 3)
	s.backedUp("often")
	s.words["BACKUP"] = "often"
	s.selected = `etcd_backup="often"`
	s.known = fmt.Sprintf("etcd_operator_backup_interval_seconds{namespace=%q, etcd_backup=%q}", s.Namespace, "often")
	s.tells("the backup", s.known)
}

// losesCredentials has them be no good any more.
func (s *alerted) losesCredentials() {
	s.credentials(func(key string) string { return "expired" + key })
}

// hasThemAgain has them be good again, and a backup be taken at once.
func (s *alerted) hasThemAgain() {
	s.credentials(func(key string) string { return strings.TrimPrefix(key, "expired") })
	s.runs("backup now", "")
}

// credentials changes the key for the storage.
func (s *alerted) credentials(change func(key string) string) {
	s.t.Helper()
	secret := &corev1.Secret{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "minio"}, secret))
	const key = "secret-access-key"
	secret.Data[key] = []byte(change(string(secret.Data[key])))
	must(s.t, s.Client.Update(s.t.Context(), secret))
}
