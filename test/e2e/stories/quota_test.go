package stories

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestQuota fills a small quota, without Auto Pilot: the operator must say that writes are refused, by whom and since when, once, and that it is over once
// somebody has done what the runbook says.
func TestQuota(t *testing.T) {
	t.Parallel()
	quota := resource.MustParse("16Mi")
	spec := onVolumes(3)
	spec.Etcd, spec.Autopilot = &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}, &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	s := begin(t, "quota", spec)
	s.settled()
	began := time.Now()
	s.fillQuota()
	s.look("full")
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonNoSpace)
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonNoSpace)
	s.says(v1beta2.ConditionReady, v1beta2.ReasonNoSpace)
	t.Logf("it says that there is no space %.1f s after the first write", time.Since(began).Seconds())
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	said := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionAvailable)
	if said.Status != metav1.ConditionFalse || said.LastTransitionTime.Time.Before(began.Add(-time.Second)) || !strings.Contains(said.Message, "quota-") {
		t.Errorf("Available does not tell who has no room since when: %+v", said)
	}

	began = time.Now()
	s.curesByPlugin()
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum)
	t.Logf("it has room again, and says so %.1f s after the first command", time.Since(began).Seconds())
	s.healthy("mended")
	must(t, s.Ask(t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		_, err := etcd.Put(ctx, "after", "all")
		return err
	}))
	for _, reason := range []string{v1beta2.ReasonNoSpace, v1beta2.ReasonAlarmDisarmed} {
		s.toldOnce(reason)
	}
}

// fillQuota writes until etcd has no space.
func (s *story) fillQuota() {
	s.t.Helper()
	const size, most = 1 << 20, 100
	full := false
	for i := 0; i < most && !full; i++ {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("big/%d", i), strings.Repeat("x", size))
			if full = errors.Is(err, rpctypes.ErrNoSpace); full {
				return nil
			}
			return err
		}))
	}
	if !full {
		s.t.Fatalf("there is room for %d MiB", most)
	}
}

// look has the operator look at the cluster at once: it is idle, and would within 72 s.
func (s *story) look(value string) {
	s.t.Helper()
	must(s.t, env.Run(s.t.Context(), "annotate", "--overwrite", "etcdcluster", s.Name, "-n", s.Namespace, v1beta2.AnnotationLogObserved+"="+value))
}

// cure runs the commands that the runbook has for those who have no plugin and cannot raise the quota.
func (s *story) cure() {
	s.t.Helper()
	s.cures(s.commands("runbooks/EtcdWritesRefused.md", "Cure", "-- etcdctl defrag"), func(line string) string {
		out := s.kubectl(strings.Fields(line)[1:]...)
		if !strings.Contains(line, "endpoint status") {
			return ""
		}
		return revisionIn(s.t, out)
	})
}

var revisionSaid = regexp.MustCompile(`"revision":(\d+)`)

// curesByPlugin runs the same commands for those who have the plugin.
func (s *story) curesByPlugin() {
	s.t.Helper()
	r := s.readerWithPlugin(buildPlugin(s.t))
	s.cures(s.commands("runbooks/EtcdWritesRefused.md", "Cure", "-- alarm disarm"), func(line string) string {
		if said := revisionSaid.FindStringSubmatch(r.runs(line)); said != nil {
			return said[1]
		}
		return ""
	})
}

// cures runs commands line by line, by a function that returns the revision if the line has asked for it: a later one needs it.
func (s *story) cures(commands string, runs func(line string) (revision string)) {
	s.t.Helper()
	revision := ""
	for line := range strings.Lines(commands) {
		line, _, _ = strings.Cut(line, "#")
		revision = cmp.Or(runs(strings.NewReplacer("PREFIX", "big/", "REVISION", revision).Replace(line)), revision)
	}
	if revision == "" {
		s.t.Fatal("the runbook does not have its reader ask for the revision")
	}
}

// kubectl runs a command, and returns what it prints.
func (s *story) kubectl(args ...string) []byte {
	s.t.Helper()
	var errs strings.Builder
	cmd := exec.CommandContext(s.t.Context(), env.Kubectl, append([]string{"--kubeconfig", env.Kubeconfig}, args...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("kubectl %v: %v\n%s", args, err, errs.String())
	}
	return out
}

// revisionIn is that of the answer of etcdctl endpoint status.
func revisionIn(t *testing.T, answer []byte) string {
	t.Helper()
	var all []struct {
		Status struct {
			Header struct {
				Revision json.Number `json:"revision"`
			} `json:"header"`
		} `json:"Status"`
	}
	must(t, json.Unmarshal(answer, &all))
	if len(all) != 1 || all[0].Status.Header.Revision == "" {
		t.Fatalf("no revision in %s", answer)
	}
	return all[0].Status.Header.Revision.String()
}

// toldOnce waits for the event of that reason, and wants no other one.
func (s *story) toldOnce(reason string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "one event "+reason, limit, func(ctx context.Context) (string, bool) {
		events, err := env.Kube.EventsV1().Events(s.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error(), false
		}
		n := 0
		for _, e := range events.Items {
			if e.Reason == reason && e.Regarding.Kind == "EtcdCluster" {
				if n++; e.Series != nil {
					n += int(e.Series.Count) - 1
				}
			}
		}
		return fmt.Sprintf("there are %d", n), n == 1
	}))
}
