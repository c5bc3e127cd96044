// Package doctor judges what is known of a cluster. It asks nobody.
package doctor

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
)

// Facts are what was found. What could not be read is zero, and has its reason in Unread.
type Facts struct {
	// Now is when all of it was found.
	Now     time.Time
	Cluster *v1beta2.EtcdCluster
	// Rights are those that this program needs.
	Rights []Right
	// Lease is that of the operator which status names.
	Lease Lease
	// Pods are those of the members that status names, and Answers what these say, by pod.
	Pods    []corev1.Pod
	Answers map[string]report.Answer
	// Budgets and Volumes are all PodDisruptionBudgets and PersistentVolumeClaims of the namespace.
	Budgets []policyv1.PodDisruptionBudget
	Volumes []corev1.PersistentVolumeClaim
	// Backups are those of the cluster.
	Backups []v1beta2.EtcdBackup
	// Hashes are of all keys at one revision, by pod; nil unless they were asked for.
	Hashes map[string]Hash
	// Unread says why something could not be read.
	Unread map[Source]string
}

// Source is where facts are from.
type Source string

// The sources that may not be read.
const (
	Rights  Source = "rights"
	Leases  Source = "lease"
	Pods    Source = "pods"
	Members Source = "members"
	Budgets Source = "budgets"
	Volumes Source = "volumes"
	Backups Source = "backups"
	Hashes  Source = "hashes"
)

// Right is one of whoever runs this program.
type Right struct {
	// Verb and Resource are as in a Role, and For says what they are needed for.
	Verb, Resource, For string
	Allowed             bool
}

// Lease is what was seen of the Lease of an operator. The zero value does not exist.
type Lease struct {
	// Exists is true if there is one with the UID that status names.
	Exists bool
	// Holder is the process that holds it, empty if it was given up.
	Holder string
	// Renewed is when it last was, by the clock of the holder, and Renews is true if it was seen to be renewed.
	Renewed time.Time
	Renews  bool
}

// Fresh is for how long after its renewal a Lease needs no second look: half of the time after which other processes may take it.
const Fresh = 7 * time.Second

// Alive reports whether a process holds and renews it.
func (l Lease) Alive(now time.Time) bool {
	return l.Exists && l.Holder != "" && (l.Renews || now.Sub(l.Renewed).Abs() < Fresh)
}

// Pod is the pod that holds it, empty if nobody does: controller-runtime appends an underscore and a random UUID.
func (l Lease) Pod() string {
	pod, _, _ := strings.Cut(l.Holder, "_")
	return pod
}

// Hash is etcd's HashKV of one member.
type Hash struct {
	Value uint32
	// Revision is up to which revision it is, and Compacted from which one on.
	Revision, Compacted int64
	// Problem says why there is none.
	Problem string
}
