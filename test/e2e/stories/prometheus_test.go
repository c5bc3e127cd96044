package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/alerts"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestPrometheus has a Prometheus, run by the Prometheus Operator, scrape the operator, with the ServiceMonitor of config/prometheus, and all
// members of a cluster, with the PodMonitor that the operator makes, load all alerts, and answer what the dashboards ask. The operator is deployed anew for it, so no other story runs meanwhile.
func TestPrometheus(t *testing.T) {
	prometheus := scraper{API: monitored(t), t: t}
	prometheus.scrapesOperator()
	prometheus.loads("the operator", alerts.ForOperator(alerts.Timing{}), func(promv1.AlertingRule) bool { return true })

	began := time.Now()
	s := begin(t, "watched", overTLS(3))
	s.settled()
	s.client() // without writes there are no flushes of which to draw how long they take
	prometheus.scrapesMembers(s)
	prometheus.loadsAlerts(s)
	s.labelsWhatIsSelected()
	s.causesAll()
	prometheus.hasAll(s)
	prometheus.evaluates()
	prometheus.shows(s, began)
	prometheus.pictures(s, began)
	s.report("watched")
	s.unwatched()
	prometheus.tells(`sum(controller_runtime_reconcile_total{job="etcd-operator-controller-manager-metrics-service"}) > bool 0`, 1)
}

// monitored has a Prometheus run, and the operator deployed with a ServiceMonitor until the test ends.
func monitored(t *testing.T) promv1.API {
	t.Helper()
	must(t, nodes.CertManager().Start(t.Context(), t.Output()))
	must(t, nodes.Prometheus().Start(t.Context(), t.Output()))
	connected, err := env.Prometheus(lab.PrometheusProxy)
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		if err := env.RemoveMonitored(ctx); err != nil {
			t.Error(err)
		}
	})
	must(t, env.DeployMonitored(t.Context()))
	return connected
}

// mayReadMetrics lets Prometheus read the operator's metrics until the test ends, by a binding of that name.
func mayReadMetrics(t *testing.T, name string) {
	t.Helper()
	untilLifted(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: lab.PrometheusNamespace, Name: lab.PrometheusAccount}},
	})
}

// scraper is a Prometheus.
type scraper struct {
	promv1.API
	t *testing.T
}

// scrapesOperator wants the operator to be scraped over TLS that is verified, and only once Prometheus has the right to.
func (p scraper) scrapesOperator() {
	p.t.Helper()
	const pool = "serviceMonitor/" + harness.OperatorNamespace + "/etcd-operator-controller-manager-metrics-monitor/0"
	p.finds("the operator, which refuses it", pool, func(targets []promv1.ActiveTarget) bool {
		return len(targets) == 1 && targets[0].Health == promv1.HealthBad && strings.Contains(targets[0].LastError, "403 Forbidden")
	})
	mayReadMetrics(p.t, "story-prometheus")
	targets := p.finds("the operator", pool, func(targets []promv1.ActiveTarget) bool {
		return len(targets) == 1 && targets[0].Health == promv1.HealthGood
	})
	if url := targets[0].ScrapeURL; !strings.HasPrefix(url, "https://") {
		p.t.Errorf("it is scraped at %s", url)
	}
	config, err := p.Config(p.t.Context())
	must(p.t, err)
	if strings.Contains(config.YAML, "insecure_skip_verify: true") {
		p.t.Errorf("its certificate is not verified:\n%s", config.YAML)
	}
}

// scrapesMembers wants all voters of a cluster to be scraped, under their names, and nothing else.
func (p scraper) scrapesMembers(s *story) {
	p.t.Helper()
	members, err := s.Members(p.t.Context())
	must(p.t, err)
	var want []string
	for _, m := range members.Members {
		if !m.IsLearner {
			want = append(want, m.Name)
		}
	}
	slices.Sort(want)
	if len(want) != 3 {
		p.t.Fatalf("the voters are %v", want)
	}
	targets := p.finds("all voters", "podMonitor/"+s.Namespace+"/"+s.Name+"/0", func(targets []promv1.ActiveTarget) bool {
		var up []string
		for _, target := range targets {
			if target.Health == promv1.HealthGood && target.Labels["etcd_cluster"] == model.LabelValue(s.Name) {
				up = append(up, string(target.Labels["etcd_node"]))
			}
		}
		slices.Sort(up)
		return slices.Equal(up, want) && len(targets) == len(want)
	})
	for _, target := range targets {
		if !strings.HasPrefix(target.ScrapeURL, "http://") || !strings.HasSuffix(target.ScrapeURL, ":2381/metrics") {
			p.t.Errorf("%s is scraped at %s", target.Labels["etcd_node"], target.ScrapeURL)
		}
	}
	p.tells(fmt.Sprintf(`count(etcd_server_has_leader{namespace=%q, etcd_cluster=%q} == 1)`, s.Namespace, s.Name), 3)
	p.tells(fmt.Sprintf(`sum(etcd_server_is_leader{namespace=%q, etcd_cluster=%q})`, s.Namespace, s.Name), 1)
}

// labelsWhatIsSelected lists what Prometheus is to select, and gives it a label, as where Prometheus selects by that.
func (s *story) labelsWhatIsSelected() {
	s.t.Helper()
	r, release := s.reader(), strings.NewReplacer("RELEASE", "story")
	out := r.runs(s.commands("observability.md", "What comes with an EtcdCluster", "get podmonitors"))
	for _, want := range []string{s.Name, "etcd-operator-alerts"} {
		if !strings.Contains(out, want) {
			s.t.Errorf("there is no %s: %s", want, out)
		}
	}
	r.runs(release.Replace(s.commands("observability.md", "What comes with an EtcdCluster", "label podmonitor/")))
	r.runs(release.Replace(s.commands("observability.md", "What comes with an EtcdCluster", "label servicemonitor/")))
}

// causesAll has the operator do whatever its metrics are about, beside what it does for any cluster: take backups, good and bad ones, be
// refused a write, and leave an object to another operator.
func (s *story) causesAll() {
	s.t.Helper()
	s.every("good", s.volume(), 3)
	bad := s.minio()
	bad.URL = "s3://no-such-bucket/" + s.folder()
	s.every("bad", bad, 3)
	s.backedUp("good")
	must(s.t, env.Create(s.t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "pods"}, Spec: corev1.ResourceQuotaSpec{Hard: podCount(0)},
	}))
	cluster, err := env.NewCluster(s.t.Context(), s.Namespace, "refused", v1beta2.EtcdClusterSpec{Size: 1})
	must(s.t, err)
	refused := &story{Cluster: cluster, t: s.t}
	refused.says(v1beta2.ConditionDegraded, v1beta2.ReasonWriteRefused)
	object, err := cluster.Get(s.t.Context())
	must(s.t, err)
	before := object.DeepCopy()
	object.Status.Operator.Namespace, object.Status.Operator.UID = s.Namespace, ""
	must(s.t, env.Status().Patch(s.t.Context(), object, client.MergeFrom(before)))
}

// hasAll wants a sample of every metric that docs/metrics.md lists, and the labels as they are there. Auto Pilot's have none where it neither
// acts nor holds anything, there is none of volumes where none is kept, and none of a comparison of data that nobody compacts.
func (p scraper) hasAll(s *story) {
	p.t.Helper()
	for _, family := range metrics.Families() {
		name := family.Name
		if strings.Contains(name, "_autopilot_") || strings.HasSuffix(name, "_kept_volumes") || strings.Contains(name, "_data_compared_") {
			continue
		}
		if family.Type == metrics.Histogram {
			name += "_count"
		}
		selector := ""
		if slices.Contains(family.Labels, "namespace") {
			selector = fmt.Sprintf("{namespace=%q}", s.Namespace)
		}
		p.tells(fmt.Sprintf("count(%s%s) > bool 0", name, selector), 1)
	}
	p.tells(fmt.Sprintf(`etcd_operator_cluster_members{namespace=%q, etcd_cluster=%q, state="ready"}`, s.Namespace, s.Name), 3)
	p.tells(`absent({__name__=~"etcd_operator_.+", exported_namespace!=""})`, 1)
}

// finds waits until the targets of a pool are as wanted, and returns them.
func (p scraper) finds(what, pool string, wanted func([]promv1.ActiveTarget) bool) []promv1.ActiveTarget {
	p.t.Helper()
	var found []promv1.ActiveTarget
	must(p.t, harness.Await(p.t.Context(), "Prometheus finds "+what, limit, func(ctx context.Context) (string, bool) {
		targets, seen, err := harness.Targets(ctx, p, pool)
		if err != nil {
			return err.Error(), false
		}
		found = targets
		return seen, wanted(found)
	}))
	return found
}

// tells waits until an expression is that one number.
func (p scraper) tells(expression string, want model.SampleValue) {
	p.t.Helper()
	must(p.t, harness.Await(p.t.Context(), fmt.Sprintf("%s is %v", expression, want), limit, func(ctx context.Context) (string, bool) {
		value, warnings, infos, err := p.Query(ctx, expression, time.Time{})
		if err != nil {
			return err.Error(), false
		}
		vector, is := value.(model.Vector)
		return fmt.Sprintf("%v, %v, %v", value, warnings, infos), is && len(vector) == 1 && vector[0].Value == want && len(warnings) == 0
	}))
}
