package doctor_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// healthy are the facts about a cluster that is well.
func healthy() *doctor.Facts {
	f := &doctor.Facts{
		Now: now, Cluster: cluster(), Answers: map[string]report.Answer{}, Unread: map[doctor.Source]string{},
		Rights: []doctor.Right{
			{Verb: "list", Resource: "pods", For: "the members", Allowed: true},
			{Verb: "create", Resource: "pods/portforward", For: "to ask members", Allowed: true},
		},
		Lease: doctor.Lease{Exists: true, Holder: "manager-1_uuid", Renewed: now.Add(-time.Second)},
	}
	for i, name := range names {
		f.Pods = append(f.Pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: resources.ServingSelector("demo")},
			Spec:       corev1.PodSpec{NodeName: f.Cluster.Status.MemberStatuses[i].Node},
		})
		f.Volumes = append(f.Volumes, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		})
		f.Answers[name] = report.Answer{
			ID: uint64(10 + i), Leader: 10, Version: "3.6.16", Bytes: 412 * mebibyte, InUse: 388 * mebibyte, Quota: 2048 * mebibyte,
			Index: 5000, Applied: 5000 - uint64(i), Fsync: 1200 * time.Microsecond,
			RoundTrips: map[uint64]time.Duration{10: time.Millisecond, 11: time.Millisecond, 12: 2 * time.Millisecond},
		}
	}
	f.Budgets = []policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", OwnerReferences: []metav1.OwnerReference{{UID: "u", Controller: &yes}}},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: resources.ServingSelector("demo")}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}}
	taken := metav1.NewTime(now.Add(-6 * time.Hour))
	f.Backups = []v1beta2.EtcdBackup{{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: v1beta2.EtcdBackupSpec{Schedule: "0 6 * * *"}}}
	f.Backups[0].Status.LastSuccessDate = &taken
	f.Backups[0].Status.Snapshots = []v1beta2.SnapshotStatus{{CreationTime: taken}}
	return f
}

func cluster() *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "demo", UID: "u", Generation: 3}}
	c.Spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	c.Status.CurrentVersion, c.Status.ObservedGeneration, c.Status.Storage = "3.6.16", 3, v1beta2.MemberStoragePVC
	c.Status.Operator = &v1beta2.OperatorReference{Namespace: "etcd-operator-system", Lease: "etcd-operator.etcd.database.coreos.com"}
	for i, name := range names {
		c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{
			Name: name, ID: member.ID(i + 10).String(), Role: v1beta2.MemberRoleVoter, Ready: true, Leader: i == 0,
			Node: "worker-" + []string{"a", "b", "c"}[i], Version: "3.6.16",
		})
	}
	since := metav1.NewTime(now.Add(-4 * time.Hour))
	c.Status.Conditions = []metav1.Condition{
		{Type: v1beta2.ConditionReady, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonSpecReached, LastTransitionTime: since},
		{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "HasQuorum", LastTransitionTime: since},
		{Type: v1beta2.ConditionDegraded, Status: metav1.ConditionFalse, Reason: "AsExpected", LastTransitionTime: since},
	}
	c.Status.TLS = &v1beta2.TLSStatus{Certificates: []v1beta2.CertificateStatus{{
		Secret: "demo-0-tls", Use: "peer", NotAfter: metav1.NewTime(now.Add(90 * 24 * time.Hour)), RenewTime: &metav1.Time{Time: now.Add(60 * 24 * time.Hour)},
	}}}
	return c
}

// podsGone is a cluster without an operator, of whose members but one have a pod.
func podsGone(f *doctor.Facts) {
	f.Lease = doctor.Lease{Exists: true}
	f.Pods = f.Pods[2:]
	delete(f.Answers, names[0])
	delete(f.Answers, names[1])
	answer(names[2], func(a *report.Answer) { a.Leader = 0 })(f)
}

func answer(name string, change func(*report.Answer)) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		a := f.Answers[name]
		change(&a)
		f.Answers[name] = a
	}
}

func all(change func(*report.Answer)) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		for _, name := range names {
			answer(name, change)(f)
		}
	}
}

func hashed(values ...uint32) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		f.Hashes = map[string]doctor.Hash{}
		for i, v := range values {
			f.Hashes[names[i]] = doctor.Hash{Value: v, Revision: 900, Compacted: 1}
		}
	}
}

func expires(in, renewed time.Duration) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		c := &f.Cluster.Status.TLS.Certificates[0]
		c.NotAfter, c.RenewTime = metav1.NewTime(now.Add(in)), &metav1.Time{Time: now.Add(renewed)}
	}
}

func backup(change func(*v1beta2.EtcdBackup)) func(*doctor.Facts) {
	return func(f *doctor.Facts) { change(&f.Backups[0]) }
}

func fails(b *v1beta2.EtcdBackup) {
	b.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionBackedUp, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonStorageAccessDenied, Message: "s3://b/demo: AccessDenied",
	}}
}

func condition(kind string, status metav1.ConditionStatus, reason string) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		meta.SetStatusCondition(&f.Cluster.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: "demo-2 is concerned", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
		})
	}
}

// holds has Auto Pilot hold something back for that reason.
func holds(reason string) func(*doctor.Facts) {
	return func(f *doctor.Facts) {
		f.Cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: "noSpace", Reason: reason, Message: "m"}}}
	}
}
