package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// The fixtures build observations of a cluster "c" in namespace "ns"; edits make each case's difference.

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const recordedID uint64 = 0xc1

func emptyCluster(size int, persistent bool) Observed {
	return Observed{Now: now, Cluster: Cluster{
		Namespace: "ns", Name: "c", UID: "uid", Size: size, Persistent: persistent, Version: "3.6.16",
	}}
}

// bootstrapped is a cluster whose initial members are committed but which has not been up yet.
func bootstrapped(size int, persistent bool) Observed {
	o := emptyCluster(size, persistent)
	b := newView(o).plannedBootstrap(1)
	o.Cluster.Bootstrap = &b
	for i := range size {
		p := waitingPod(i)
		p.Persistent = persistent
		o.Pods = append(o.Pods, p)
		if persistent {
			o.Volumes = append(o.Volumes, Volume{Name: name(i), UID: "v" + fmt.Sprint(i), Incarnation: 1, Owned: true})
		}
	}
	return o
}

func bound(o Observed) Observed {
	for _, p := range o.Pods {
		o.Cluster.Bootstrap.InitialPods = append(o.Cluster.Bootstrap.InitialPods,
			InitialPod{Name: p.Name, PodUID: p.UID, VolumeUID: newView(o).volumes[p.Name].UID})
	}
	return o
}

// healthyCluster is a cluster at its spec: nothing to do.
func healthyCluster(size int, persistent bool) Observed {
	o := bootstrapped(size, persistent)
	o.Cluster.ID = recordedID
	o.Etcd.Contact, o.Etcd.ClusterID, o.Etcd.Revision, o.Etcd.RevisionCeiling = ContactQuorum, recordedID, 100, 100
	o.Budget = Budget{Exists: true, MinAvailable: MinAvailable(size), Settled: true}
	for i := range size {
		o.Cluster.Voters = append(o.Cluster.Voters, name(i))
		o.Pods[i].InService, o.Pods[i].Ready = true, true
		o.Pods[i].Permit = &member.Permit{Mode: member.ModeNew, ClusterID: member.ID(recordedID), MemberID: member.ID(id(i)), PodUID: o.Pods[i].UID, Attempt: 1}
		o.Etcd.Members = append(o.Etcd.Members, Member{
			ID: id(i), Name: name(i), PeerURL: o.Cluster.PeerURL(name(i)), Published: true,
		})
		o.Etcd.Answers = append(o.Etcd.Answers, answerOf(i))
		if persistent {
			o.Volumes[i].ClusterID, o.Volumes[i].MemberID, o.Volumes[i].Version = recordedID, id(i), "3.6.16"
		}
	}
	return o
}

func name(i int) string { return fmt.Sprintf("c-%d", i) }
func id(i int) uint64   { return uint64(0xa0 + i) }

func waitingPod(i int) Pod {
	return Pod{
		Name: name(i), UID: "p" + fmt.Sprint(i), Incarnation: 1, Phase: Running, IP: fmt.Sprintf("10.0.0.%d", i+1),
		Node: fmt.Sprintf("n%d", i%3), Created: now.Add(-time.Minute), Version: "3.6.16",
	}
}

func answerOf(i int) Answer {
	return Answer{
		Pod: name(i), PodUID: "p" + fmt.Sprint(i), MemberID: id(i), ClusterID: recordedID, Leader: id(0),
		Version: "3.6.16", Revision: 100, Applied: 100, Committed: 100,
	}
}

// withLearner adds member i as a learner that is listed but has not started.
func withLearner(o Observed, i int) Observed {
	p := waitingPod(i)
	p.Persistent = o.Cluster.Persistent
	o.Pods = append(o.Pods, p)
	o.Etcd.Members = append(o.Etcd.Members, Member{
		ID: id(i), Name: name(i), PeerURL: o.Cluster.PeerURL(name(i)), Learner: true,
	})
	if o.Cluster.Persistent {
		o.Volumes = append(o.Volumes, Volume{Name: name(i), UID: "v" + fmt.Sprint(i), Incarnation: 1, Owned: true})
	}
	return o
}

// started makes learner 3 answer as one that has caught up.
func started(o Observed) Observed {
	const i = 3
	for j := range o.Etcd.Members {
		if o.Etcd.Members[j].Name == name(i) {
			o.Etcd.Members[j].Published = true
		}
	}
	for j := range o.Pods {
		if o.Pods[j].Name == name(i) {
			o.Pods[j].Permit = &member.Permit{Mode: member.ModeJoin, MemberID: member.ID(id(i)), PodUID: o.Pods[j].UID, Attempt: 1}
		}
	}
	a := answerOf(i)
	a.Learner = true
	o.Etcd.Answers = append(o.Etcd.Answers, a)
	return o
}

// withoutPod removes the pod, and with it what its server said.
func withoutPod(o Observed, i int) Observed {
	var pods []Pod
	for _, p := range o.Pods {
		if p.Name != name(i) {
			pods = append(pods, p)
		}
	}
	o.Pods = pods
	return silent(o, i)
}

func silent(o Observed, i int) Observed {
	var answers []Answer
	for _, a := range o.Etcd.Answers {
		if a.Pod != name(i) {
			answers = append(answers, a)
		}
	}
	o.Etcd.Answers = answers
	return o
}

// noContact is what is seen while no quorum answers.
func noContact(o Observed) Observed {
	o.Etcd = Etcd{Contact: ContactNone}
	return o
}

func closed(o Observed) Observed {
	voters := 0
	for _, m := range o.Etcd.Members {
		if !m.Learner {
			voters++
		}
	}
	o.Budget = Budget{Exists: true, MinAvailable: voters, Settled: true}
	return o
}

// unserved takes the pod from the clients' reach.
func unserved(o Observed, i int) Observed {
	o.Pods = slices.Clone(o.Pods)
	o.Pods[i].InService = false
	return o
}

// lateLearner is a cluster with a learner that does not answer, in a pod of an hour, and that may start since a while ago.
func lateLearner(since time.Duration) Observed {
	return edit(silent(healthyCluster(3, true), 2), func(o *Observed) {
		o.Etcd.Members[2].Published, o.Etcd.Members[2].Learner = false, true
		p := &o.Pods[2]
		p.Created, p.PermittedAt, p.InService = now.Add(-time.Hour), now.Add(-since), false
		p.Permit = &member.Permit{
			Mode: member.ModeJoin, ClusterID: member.ID(recordedID), MemberID: member.ID(id(2)), InitialCluster: initialCluster(newView(*o).listedURLs()),
			PodUID: p.UID, Attempt: 1,
		}
		o.Cluster.Voters, o.Budget.MinAvailable = o.Cluster.Voters[:2], MinAvailable(2)
	})
}

// runsNewer makes member i run 3.7.3.
func runsNewer(o Observed, i int) Observed {
	return edit(o, func(o *Observed) {
		o.Pods[i].Version, o.Etcd.Answers[i].Version = "3.7.3", "3.7.3"
		if len(o.Volumes) > 0 {
			o.Volumes[i].Version = "3.7.3"
		}
	})
}

// initialID is the ID of an initial member.
func initialID(o Observed, i int) member.ID {
	b := o.Cluster.Bootstrap
	ids, _ := IDs(b.Token, o.Cluster.peerURLs(b.Members))
	return member.ID(ids[name(i)])
}
