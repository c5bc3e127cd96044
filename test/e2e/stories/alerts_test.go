package stories

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// alertStory is how an alert comes about, and how it goes.
type alertStory struct {
	alert string
	// apart says that it harms nothing but a cluster of its own, so that another one may be told meanwhile.
	apart bool
	// begins makes what is to break, or takes what is there; breaks does the harm, and cures does what the runbook says.
	begins, breaks, cures func(*alerted)
	// unchecked are parts of the commands under "Check" that cannot work then, or not here.
	unchecked []string
}

// alertStories are all, those first that have the lab for themselves.
var alertStories = []alertStory{
	{alert: "EtcdRequestsFail", begins: (*alerted).shared, breaks: (*alerted).cutOff, cures: (*alerted).restarts},
	{alert: "EtcdNoMargin", begins: (*alerted).shared, breaks: (*alerted).withoutPower, cures: (*alerted).doesWithoutNode},
	{alert: "EtcdNotScraped", begins: (*alerted).shared, breaks: (*alerted).shutOut, cures: (*alerted).admits},
	{alert: "EtcdPeerSlow", begins: (*alerted).shared, breaks: (*alerted).farAway, cures: (*alerted).moves},
	{alert: "EtcdLeaderFlaps", begins: (*alerted).shared, breaks: (*alerted).starves, cures: (*alerted).raisesTimes},
	{alert: "EtcdDiskSlow", begins: (*alerted).withDisks, breaks: (*alerted).slowsDisk, cures: (*alerted).moves},
	{alert: "EtcdAnomaly", begins: (*alerted).onKnownDisks, breaks: (*alerted).slowsKnownDisk, cures: (*alerted).isSilenced},
	{alert: "EtcdOperatorDown", begins: (*alerted).operator, breaks: (*alerted).stopsOperator, cures: (*alerted).startsOperator, unchecked: []string{"logs deploy/"}},
	{alert: "EtcdOperatorErrors", begins: (*alerted).operator, breaks: (*alerted).takesRight, cures: (*alerted).appliesAgain},
	{alert: "EtcdQuorumLost", apart: true, begins: (*alerted).withBackup, breaks: (*alerted).losesMajority, cures: (*alerted).restores},
	{alert: "EtcdWritesRefused", apart: true, begins: (*alerted).withQuota, breaks: (*alerted).fillsAll, cures: (*alerted).makesRoom},
	{alert: "EtcdSpaceLow", apart: true, begins: (*alerted).withQuota, breaks: (*alerted).fillsMost, cures: (*alerted).raisesQuota},
	{alert: "EtcdAutopilotHeld", apart: true, begins: (*alerted).withAdvice, breaks: (*alerted).fillsWithHistory, cures: (*alerted).letsItAct},
	{alert: "EtcdBlocked", apart: true, begins: (*alerted).withVersion, breaks: (*alerted).asksForNoImage, cures: (*alerted).takesVersionBack},
	{alert: "EtcdStuck", apart: true, begins: (*alerted).onSlowVolumes, breaks: (*alerted).growsInVain, cures: (*alerted).takesSizeBack},
	{alert: "EtcdCertificateExpiring", apart: true, begins: (*alerted).withOwnCertificates, breaks: (*alerted).forgetsThem, cures: (*alerted).renewsThem},
	{alert: "EtcdBackupStale", apart: true, begins: (*alerted).withSchedule, breaks: (*alerted).losesCredentials, cures: (*alerted).hasThemAgain},
}

// TestAlerts has every alert fire on the fault that it is for, and clear once somebody has done what its runbook says, with the commands
// that are there. Prometheus has the operator's own alerts with times a twentieth as long (alerts.Timing says what that leaves as it is),
// about clusters in one namespace. The operator is deployed anew for it, so no other story runs meanwhile.
func TestAlerts(t *testing.T) {
	w := watchAlerts(t)
	for _, told := range alertStories {
		t.Run(told.alert, func(t *testing.T) {
			if told.apart {
				t.Parallel()
			}
			(&alerted{trial: &trial{}, watch: w, alertStory: told}).tell(t)
		})
	}
}

// alerted is one telling of a story. It is about a cluster, or about the operator alone.
type alerted struct {
	*trial
	*watch
	alertStory
	// selected are the labels of the alert that tell it from the same one about others.
	selected string
	// known is an expression that has a result as long as Prometheus knows enough to judge: an alert is not over for want of metrics.
	known string
	// pod is of the member that is harmed; its zero value if there is none.
	pod corev1.Pod
	// words are what a reader of the runbook puts for others that are in capitals.
	words map[string]string
	// own are the certificates of a user's.
	own *ownCertificates
	// relieve ends a fault that goes on by itself.
	relieve func()
}

// tell has the alert fire and clear.
func (s *alerted) tell(t *testing.T) {
	s.trial.story, s.words = s.about(t, ""), map[string]string{}
	s.begins(s)
	s.silent()
	s.broken = time.Now()
	s.breaks(s)
	s.fires()
	s.checks()
	s.mended = time.Now()
	s.cures(s)
	s.clears()
}

// cluster makes one for this story alone, which is gone at its end, and waits until Prometheus knows it.
func (s *alerted) cluster(name string, spec v1beta2.EtcdClusterSpec) {
	s.t.Helper()
	cluster, err := env.NewCluster(s.t.Context(), s.namespace, name, spec)
	must(s.t, err)
	s.trial.story = &story{Cluster: cluster, t: s.t}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		s.describes()
		if err := cluster.Remove(ctx, limit); err != nil {
			s.t.Error(err)
		}
	})
	s.healthy("created")
	s.settled()
	s.aboutCluster()
}

// describes logs what a reader of a failure needs.
func (s *alerted) describes() {
	if s.t.Failed() {
		describe(s.t, s.Cluster)
	}
}

// shared is a cluster of three whose pods stay on a node that is lost until somebody says that it is gone.
func (s *alerted) shared() {
	s.t.Helper()
	const name = "shared"
	ready(s.t)
	spec := onVolumes(3)
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.Pod.Tolerations = append(spec.Pod.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		})
	}
	if s.common == nil {
		cluster, err := env.NewCluster(s.t.Context(), s.namespace, name, spec)
		must(s.t, err)
		s.common = cluster
	}
	s.trial.story = s.about(s.t, name)
	s.t.Cleanup(s.describes)
	s.healthy("at first")
	s.settled()
	s.scraped(3)
}

// aboutCluster has the alert be looked at that is about this cluster.
func (s *alerted) aboutCluster() {
	s.t.Helper()
	s.selected = fmt.Sprintf("etcd_cluster=%q", s.Name)
	s.known = fmt.Sprintf("etcd_operator_cluster_spec_size{namespace=%q, etcd_cluster=%q}", s.Namespace, s.Name)
	s.tells("the operator's metrics of the cluster", s.known)
}

// scraped is aboutCluster of a cluster that so many members tell of, too.
func (s *alerted) scraped(members int) {
	s.t.Helper()
	s.aboutCluster()
	s.tells("all members", fmt.Sprintf("count(up{namespace=%q, etcd_cluster=%q} == 1) == %d", s.Namespace, s.Name, members))
}
