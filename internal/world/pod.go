package world

import (
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Pod is a pod and its node's kubelet.
type Pod struct {
	Name        string
	UID         string
	Incarnation int
	Phase       plan.Phase
	Deleting    bool
	Permit      *member.Permit
	Exit        plan.Exit
	Serving     bool
	// Old is true once every deadline that counts from the creation, or from the first permit, has passed; Overdue likewise
	// for a deletion.
	Old, Overdue bool
	// Used is the highest attempt that member-run has marked as used in this pod.
	Used int
	// Refused is the attempt that member-run refused last because it was used.
	Refused int
	// Down is true while the pod's node does not report; Stuck while no node takes the pod, and Mute if its volume never mounts.
	Down, Stuck, Mute bool
	// Sick is true while member-run or etcd cannot start for a reason that says nothing about the data.
	Sick bool
	// Evicting is true once the API server has granted an eviction; the deletion follows.
	Evicting bool
	// Held is true while something keeps the pod after its deletion: its containers have ended.
	Held bool
	// Foreign is true while another owner's etcd answers at the pod's address.
	Foreign bool
	// Lie is what a pod answers that another owner has made as one of the cluster's; 0 for all others.
	Lie Lie
	// Persistent, Version and Template are what the pod was made from; Version is its image's, changed in place.
	Persistent bool
	Version    string
	Template   int
	// Transport is what the pod's member serves.
	Transport member.Transport
	// Token is that of the cluster whose data the pod makes of a snapshot before etcd starts, empty if it makes none.
	Token string
	// Terminal is true once it cannot: the snapshot has changed, or the key is another one.
	Terminal bool
	// Runs is the version of the server that was started last, and Restarting is true from a change of the image until
	// that server has ended.
	Runs       string
	Restarting bool
	// Labels and Resources are those of the spec that the pod has. Fixed is true once it was refused those in FixedAt.
	Labels, Resources int
	Fixed             bool
	FixedAt           int
	// Resizing is true until the kubelet has followed, and Unfit if it cannot.
	Resizing, Unfit bool
	// Slow is true while the pod's disk is slow, Hung while it does not answer, and Starved while memory or room is too little.
	Slow, Hung, Starved bool
	// Drags is true while the pod's disk has been slow for an hour. Avoids is the node that it must not be on.
	Drags  bool
	Avoids string
	// Restarts is how often etcd was started again in the pod, and Aged is true once it has run for a while: both only where releases are
	// followed.
	Restarts int
	Aged     bool
	// Former is true for a pod of the cluster that had the name before.
	Former bool
	// Database is that of the pod's member, and Share what the pod requests.
	Database
	Share
}
