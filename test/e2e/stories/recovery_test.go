package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestRecovery loses a majority of the volumes for good, under a client at work. Once the plan is confirmed, and not before, the cluster goes on
// with what the survivor has applied, and the survivor's volume is kept. A leader has applied all that was acknowledged, so if it survives nothing
// may be lost; a follower may lack what was acknowledged in the last moment.
func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, c := range []majority{{"two-of-three", 3, true}, {"three-of-five", 5, false}} {
		t.Run(c.name, func(t *testing.T) {
			editions(t, func(t *testing.T, etcd edition) { recovery(t, etcd, c) })
		})
	}
}

// majority is one to be lost. The leader is spared, or among it.
type majority struct {
	name   string
	size   int32
	spared bool
}

func recovery(t *testing.T, etcd edition, c majority) {
	s := etcd.begin(t, c.name, onVolumes(c.size))
	s.settled()
	s.puts("key", 100)
	s.client()
	acknowledged := s.writesThrough(s.Name + "-0")
	lost := s.losesMajority(c.spared)
	written := acknowledged()
	p := s.planned(func(p *v1beta2.RecoveryPlan) bool { return slices.Equal(p.Lost, lost) })
	survivor := s.claim(p.Survivor).UID
	s.never("an EtcdRestore without confirmation", 20*time.Second, s.recovers)
	s.confirmsAsTold(p.Hash, c.spared)
	s.restored(s.Name + "-recover-" + p.Hash)
	s.healthy("recovered")
	s.has("key", 100)
	missing := s.missing(written)
	s.measures(fmt.Sprintf("%d of %d lost for good under writes through one of them: acknowledged writes, and those of them that are lost", len(lost), c.size),
		fmt.Sprintf("%d, %d", len(written), missing))
	if c.spared && missing > 0 {
		t.Errorf("%d acknowledged writes are lost that the leader has survived with", missing)
	}
	if c.spared {
		s.report("a client saw a loss that the leader has survived")
	} else {
		s.saw("a client saw a loss of the leader, too")
	}
	if kept := s.claim(p.Survivor); kept.UID != survivor || !kept.DeletionTimestamp.IsZero() {
		t.Errorf("the survivor's volume is %s and was %s", kept.UID, survivor)
	}
}

// TestRecoveryUnwanted freezes two of three members: the operator shows a plan, and never carries it out by itself. They come back once a
// user has confirmed it, and nothing is replaced.
func TestRecoveryUnwanted(t *testing.T) {
	t.Parallel()
	editions(t, recoveryUnwanted)
}

func recoveryUnwanted(t *testing.T, etcd edition) {
	s := etcd.begin(t, "silent", onVolumes(3))
	s.settled()
	s.puts("key", 100)
	s.client()
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	before, frozen := object.Status.ClusterID, object.Status.Members.Ready[:2]
	for _, name := range frozen {
		must(t, nodes.Faults().FreezeContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	p := s.planned(func(p *v1beta2.RecoveryPlan) bool { return slices.Equal(p.Silent, frozen) })
	s.never("an EtcdRestore for silence", 90*time.Second, s.recovers)
	s.confirms(p.Hash)
	must(t, harness.Await(t.Context(), "the EtcdRestore of the plan, two minutes after the loss", limit, func(ctx context.Context) (string, bool) {
		is, err := s.recovers(ctx)
		return fmt.Sprintf("there is none: %v", err), is
	}))
	for _, name := range frozen {
		must(t, nodes.Faults().ThawContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	void := &v1beta2.EtcdRestore{}
	s.saysWhy(s.Name+"-recover-"+p.Hash, void, func() []metav1.Condition { return void.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonRecoveryVoid)
	s.healthy("thawed")
	s.has("key", 100)
	s.report("a client saw members that were frozen")
	object, err = s.Cluster.Get(t.Context())
	must(t, err)
	if object.Status.ClusterID != before || object.Status.Recovery != nil {
		t.Errorf("the cluster is %s, was %s, and shows %+v", object.Status.ClusterID, before, object.Status.Recovery)
	}
}

// losesMajority deletes the pods and volumes of as many members as cost the quorum, all at once: while the cluster is paused. The leader is spared
// or among them.
func (s *story) losesMajority(spared bool) []string {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	names := slices.Clone(object.Status.Members.Ready)
	slices.SortFunc(names, plan.CompareNames)
	lost := names[:len(names)/2+1]
	pause := func(paused bool) {
		must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = paused }))
	}
	pause(true)
	if spared {
		s.elects(names[len(names)-1])
	} else {
		s.elects(lost[0])
	}
	for _, name := range lost {
		must(s.t, env.Delete(s.t.Context(), s.claim(name)))
		must(s.t, s.KillPod(s.t.Context(), name))
	}
	for _, name := range lost {
		key := client.ObjectKey{Namespace: s.Namespace, Name: name}
		must(s.t, harness.Await(s.t.Context(), "volume "+name+" is gone", limit, func(ctx context.Context) (string, bool) {
			err := s.Client.Get(ctx, key, &corev1.PersistentVolumeClaim{})
			return fmt.Sprint(err), client.IgnoreNotFound(err) == nil && err != nil
		}))
	}
	pause(false)
	return lost
}

// writesThrough writes keys through one member, and returns by which function that ends, which returns those that were acknowledged: what is
// acknowledged through the survivor cannot be lost.
func (s *story) writesThrough(name string) (acknowledged func() []string) {
	s.t.Helper()
	etcd, err := s.Etcd(*s.pod(name))
	must(s.t, err)
	ctx, stop := context.WithCancel(s.t.Context())
	keys := make(chan []string, 1)
	go func() {
		var all []string
		for i := 0; ctx.Err() == nil; i++ {
			key := fmt.Sprintf("last/%d", i)
			one, cancel := context.WithTimeout(ctx, time.Second)
			if _, err := etcd.Put(one, key, "x"); err == nil {
				all = append(all, key)
			}
			cancel()
		}
		keys <- all
	}()
	return func() []string {
		stop()
		all := <-keys
		must(s.t, etcd.Close())
		if len(all) == 0 {
			s.t.Error("no write was acknowledged")
		}
		return all
	}
}

// missing counts which of these keys are not there any more.
func (s *story) missing(keys []string) (n int) {
	s.t.Helper()
	there := map[string]bool{}
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		answer, err := etcd.Get(ctx, "last/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		for _, kv := range answer.Kvs {
			there[string(kv.Key)] = true
		}
		return nil
	}))
	for _, key := range keys {
		if !there[key] {
			n++
		}
	}
	return n
}

// saw says what the client saw since the last report, of which an acknowledged write may be lost, and wants it to work on.
func (s *story) saw(what string) {
	s.t.Helper()
	s.moreReads()
	r, err := s.writer.Report(s.t.Context())
	must(s.t, err)
	s.t.Logf("%s: %s", what, r)
	s.outcome.add(r)
}

// planned waits for a plan.
func (s *story) planned(fits func(*v1beta2.RecoveryPlan) bool) *v1beta2.RecoveryPlan {
	s.t.Helper()
	var p *v1beta2.RecoveryPlan
	must(s.t, harness.Await(s.t.Context(), "the plan of a recovery", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil || object.Status.Recovery == nil || object.Status.Recovery.Plan == nil {
			return fmt.Sprintf("there is none: %v", err), false
		}
		p = object.Status.Recovery.Plan
		return fmt.Sprintf("it is %+v", p), fits(p)
	}))
	return p
}

// confirms confirms a plan.
func (s *story) confirms(hash string) {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	patch := client.MergeFrom(object.DeepCopy())
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[v1beta2.AnnotationRecover] = hash
	must(s.t, s.Client.Patch(s.t.Context(), object, patch))
}

// confirmsAsTold confirms a plan by the commands of a document, of the runbook or the one that it leads to, which show the plan first.
func (s *story) confirmsAsTold(hash string, runbook bool) {
	s.t.Helper()
	r, words := s.reader(), strings.NewReplacer("HASH", hash)
	if runbook {
		if out := r.runs(words.Replace(s.commands("runbooks/EtcdQuorumLost.md", "Cure", "recover=HASH"))); !strings.Contains(out, `"hash":"`+hash) {
			s.t.Errorf("the plan %s is not shown: %s", hash, out)
		}
		return
	}
	if out := r.runs(s.commands("operations.md", "What happens when", "recovery.plan")); !strings.Contains(out, `"hash":"`+hash) {
		s.t.Errorf("the plan %s is not shown: %s", hash, out)
	}
	r.runs(words.Replace(s.commands("operations.md", "What happens when", "recover=HASH")))
}

// recovers reports whether there is an EtcdRestore of a survivor.
func (s *story) recovers(ctx context.Context) (bool, error) {
	list := &v1beta2.EtcdRestoreList{}
	err := s.Client.List(ctx, list, client.InNamespace(s.Namespace))
	return slices.ContainsFunc(list.Items, func(r v1beta2.EtcdRestore) bool { return r.Spec.Member != nil }), err
}

// never wants something not to be so at any moment of that time. A look that fails says nothing, and some have to succeed.
func (s *story) never(what string, within time.Duration, holds func(context.Context) (bool, error)) {
	s.t.Helper()
	var failed error
	looked, ctx, tick, end := 0, s.t.Context(), time.NewTicker(time.Second), time.After(within)
	defer tick.Stop()
	for over := false; !over; {
		switch is, err := holds(ctx); {
		case err != nil:
			failed = err
		case is:
			s.t.Fatal(what)
		default:
			looked++
		}
		select {
		case <-ctx.Done():
			s.t.Fatal(ctx.Err())
		case <-tick.C:
		case <-end:
			over = true
		}
	}
	if looked == 0 {
		s.t.Fatalf("%s: nobody could look: %v", what, failed)
	}
}
