package etcdcluster

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// observe reads everything a decision may depend on. Its errors are only those of the Kubernetes API: that etcd does not answer is
// an observation.
func (r *Reconciler) observe(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster) (
	*pass, error,
) {
	p := &pass{
		cluster: c, before: c.Status.DeepCopy(), services: map[string]*corev1.Service{},
		pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{},
	}
	claims, err := clusterspec.Claims(ctx, reader, c)
	if err != nil {
		return nil, err
	}
	// Before the pods: an eviction that the budget no longer shows has marked its pod by then.
	if err := observeBudget(ctx, reader, p); err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(c.Namespace), client.MatchingLabels(resources.ClusterSelector(c.Name))); err != nil {
		return nil, fmt.Errorf("list Pods: %w", err)
	}
	newest := version.Newest(c.Spec.Version)
	var problem *failure.Problem
	c.Spec, problem = clusterspec.Effective(c, claims, pods.Items...)
	p.observed.Now, p.observed.Cluster = r.Clock.Now(), r.observedCluster(c, problem)
	p.observed.Cluster.NewestPatch = newest
	p.observed.Refused = r.refusals.of(client.ObjectKeyFromObject(c), c.Generation, p.observed.Now)
	r.observeAutopilot(p)
	p.observed.Cluster.Autopilot.Pace = r.pace()
	listPods(p, pods.Items)
	kept, err := r.unlistedKept(ctx, c, claims)
	if err != nil {
		return nil, err
	}
	listVolumes(p, append(claims, kept...))
	if err := r.observeCertificates(ctx, p); err != nil {
		return nil, err
	}
	if !resources.Started(c) && p.certified != nil && problem == nil {
		p.observed.Cluster.Invalid = p.certified.Blocking
	}
	if err := r.observePods(p); err != nil {
		return nil, err
	}
	if err := r.observeVolumes(p); err != nil {
		return nil, err
	}
	if err := observeServices(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := r.observePolicy(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observePulls(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := r.observeRestore(ctx, p); err != nil {
		return nil, err
	}
	if p.certified != nil && p.certified.Blocking != nil { // the members of a restore would get no certificates
		p.observed.Cluster.Restore = ""
	}
	p.observed.Cluster.Certified, p.observed.Cluster.ClientsRead = p.prepared(), r.clientsRead(p)
	return p, r.observeEtcd(ctx, reader, p)
}

// observeEtcd looks at the members, and at what is decided by their answers.
func (r *Reconciler) observeEtcd(ctx context.Context, reader client.Reader, p *pass) error {
	p.session = r.Etcd.Observe(ctx, p.key().String(), p.clientConfig(), p.observed.Electorate(),
		endpoints(p.observed))
	p.observed.Etcd = p.session.Seen
	r.observeReach(ctx, p)
	r.sample(ctx, p)
	if err := r.observeDatabases(ctx, p); err != nil {
		return err
	}
	if err := r.observeBackup(ctx, p); err != nil {
		return err
	}
	if err := r.observeRefused(ctx, p); err != nil {
		return err
	}
	return r.observeRecovery(ctx, reader, p)
}

// observeReach looks at who reaches whom while members serve peers with and without TLS, and are listed by the one or the other.
func (r *Reconciler) observeReach(ctx context.Context, p *pass) {
	cluster := p.key().String()
	if !p.transport.PeerBoth {
		r.Etcd.ForgetReached(cluster)
		return
	}
	p.observed.Etcd.Reached = r.Etcd.Reached(ctx, cluster, p.observed.Etcd.Members, endpoints(p.observed))
}

// sample samples the voters' metrics, compares their data, and looks at how their disks did and at what they use of CPU and memory, unless Auto
// Pilot has no use for that: whose replacement was begun, or who is in doubt, may be found to be right.
func (r *Reconciler) sample(ctx context.Context, p *pass) {
	c, key := p.observed.Cluster, p.key().String()
	compares, relocates := p.comparesData(), c.Autopilot.Relocation != plan.ModeOff
	if p.differed() || c.Tuned.Resized != (plan.Resized{}) {
		r.Etcd.SampleAtOnce(key, p.session)
	}
	if compares || relocates {
		found, again := r.Etcd.Compare(ctx, key, p.session)
		if p.comparesAgain = again; compares {
			p.observed.Etcd.Compared = found
		}
		p.compared = r.Etcd.Compared(key, p.session)
	}
	if relocates {
		p.observed.Etcd.Histories = r.Etcd.Histories(key, p.session)
	}
	if c.Autopilot.Resources != plan.ModeOff {
		p.observed.Etcd.Usages = r.Etcd.Usages(ctx, key, p.session)
	}
}

// comparesData reports whether the voters' data is compared: where Auto Pilot may do something about it, and, whatever it may do, until what is recorded
// of it, or marked on a member's volume, is disproved. So it is while a member tells the alarm CORRUPT: that is recorded by this pass, and what was
// compared before it says nothing.
func (p *pass) comparesData() bool {
	return p.observed.Cluster.Autopilot.Diverged != plan.ModeOff || p.differed() || p.observed.MarkedMember() ||
		slices.ContainsFunc(p.observed.Etcd.Answers, func(a plan.Answer) bool { return a.Tells(plan.AlarmCorrupt) })
}

// differed reports whether it is recorded that the voters' data differs, or may.
func (p *pass) differed() bool {
	return p.observed.Cluster.Quarantined.Member != 0 || p.cluster.Status.Doubt != nil
}

func listPods(p *pass, pods []corev1.Pod) {
	for i := range pods {
		pod := &pods[i]
		if conflict := podConflict(pod, p.cluster); conflict != nil {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
			continue
		}
		p.pods[pod.Name] = pod
		p.observed.Pods = append(p.observed.Pods, podOf(pod))
	}
}

// observePods compares the pods with those that would be created now.
func (r *Reconciler) observePods(p *pass) error {
	if err := r.readSpecs(p); err != nil {
		return err
	}
	for i := range p.observed.Pods {
		seen := &p.observed.Pods[i]
		pod := p.pods[seen.Name]
		seen.Drift = p.revision.Drift(pod, p.observed.Cluster.Repository)
		seen.Untuned, seen.ResizeRefused = p.revision.HasSpecResources(pod), p.revision.RefusedResize(pod)
		seen.OtherImage = resources.ImageOf(pod) != p.observed.Cluster.Image(seen.Version)
		seen.Unpulled = unpulled(pod)
		seen.Drift.Image = seen.Drift.Image || seen.OtherImage && seen.Unpulled
		if !p.transport.SecuresAny() {
			continue
		}
		if trust := r.podOptions(p).Trust; trust != "" { // else it is not known yet
			seen.Drift.Template = seen.Drift.Template || !p.trusts(pod, trust)
		}
		if seen.StartProblem == "" && slices.Contains(p.certified.Expired, pod.Name) {
			seen.StartProblem = "all certificate authorities that it trusts have expired"
		}
	}
	return nil
}

func listVolumes(p *pass, claims []corev1.PersistentVolumeClaim) {
	for i := range claims {
		claim := &claims[i]
		if conflict := conflictOf(plan.KindVolume, claim, p.cluster); conflict != nil && conflict.Terminating {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
			continue
		}
		p.claims[claim.Name] = claim
		p.observed.Volumes = append(p.observed.Volumes, volumeOf(p, claim))
	}
}

// observeVolumes finds out from which spec the pods on volumes are to be made.
func (r *Reconciler) observeVolumes(p *pass) (err error) {
	for i := range p.observed.Volumes {
		v := &p.observed.Volumes[i]
		if v.FromPreviousSpec, err = r.fromPreviousSpec(p, p.claims[v.Name]); err != nil {
			return err
		}
	}
	return nil
}

func observeServices(ctx context.Context, reader client.Reader, p *pass) error {
	for _, name := range []string{
		resources.PeerServiceName(p.cluster.Name), resources.ClientServiceName(p.cluster.Name),
	} {
		service := &corev1.Service{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: name}, service)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Service %s: %w", name, err)
		}
		if err != nil {
			continue
		}
		p.services[name] = service
		if conflict := conflictOf("Service", service, p.cluster); conflict != nil {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
		}
	}
	return nil
}

func observeBudget(ctx context.Context, reader client.Reader, p *pass) error {
	budget := &policyv1.PodDisruptionBudget{}
	name := resources.BudgetName(p.cluster.Name)
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: name}, budget)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if conflict := conflictOf("PodDisruptionBudget", budget, p.cluster); conflict != nil {
		p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
		return nil
	}
	p.observed.Budget = budgetOf(budget)
	return nil
}

func budgetOf(budget *policyv1.PodDisruptionBudget) plan.Budget {
	seen := plan.Budget{
		Exists: true,
		// Evictions in flight are listed as disrupted pods until the pods are gone.
		Settled: budget.Status.ObservedGeneration >= budget.Generation && len(budget.Status.DisruptedPods) == 0,
	}
	if budget.Spec.MinAvailable != nil {
		seen.MinAvailable = budget.Spec.MinAvailable.IntValue()
	}
	return seen
}

// conflictOf describes the owner of an object that this cluster does not control, nil if it does.
func conflictOf(kind string, o client.Object, c *v1beta2.EtcdCluster) *plan.Conflict {
	if metav1.IsControlledBy(o, c) {
		return nil
	}
	return &plan.Conflict{Kind: kind, Name: o.GetName(), Owner: reconcile.HolderOf(o), Terminating: ofFormer(o, c)}
}

// ofFormer reports whether an object that this cluster does not control is of a former one of its name, and about to go.
func ofFormer(o client.Object, c *v1beta2.EtcdCluster) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == "EtcdCluster" && owner.Name == c.Name
}

// endpoints are the pods' addresses, with the members' DNS names for TLS, so that it works from outside the cluster, too.
func endpoints(o plan.Observed) []etcd.Endpoint {
	var out []etcd.Endpoint
	for _, p := range o.Pods {
		if p.Phase == plan.Running && p.IP != "" && p.Permit != nil && o.Cluster.CurrentPod(p) {
			out = append(out, etcd.Endpoint{
				Pod: p.Name, PodUID: p.UID, ServerName: o.Cluster.Host(p.Name),
				Address: net.JoinHostPort(p.IP, strconv.Itoa(member.ClientPort)),
				Metrics: net.JoinHostPort(p.IP, strconv.Itoa(member.MetricsPort)),
			})
		}
	}
	return out
}
