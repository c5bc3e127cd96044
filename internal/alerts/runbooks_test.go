package alerts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

const runbooks = "../../docs/runbooks"

// upstream are the alerts of etcd's mixin.
var upstream = []string{
	"etcdMembersDown", "etcdInsufficientMembers", "etcdNoLeader", "etcdHighNumberOfLeaderChanges", "etcdHighNumberOfFailedGRPCRequests",
	"etcdGRPCRequestsSlow", "etcdMemberCommunicationSlow", "etcdHighNumberOfFailedProposals", "etcdHighFsyncDurations", "etcdHighCommitDurations",
	"etcdDatabaseQuotaLowSpace", "etcdExcessiveDatabaseGrowth", "etcdDatabaseHighFragmentationRatio",
}

// groups are all that an operator with clusters in one namespace has.
func groups(t alerts.Timing) []alerts.Group {
	return slices.Concat(alerts.ForClusters("shop", t), alerts.ForOperator(t))
}

func all() (rules []alerts.Rule) {
	for _, group := range groups(alerts.Timing{}) {
		rules = append(rules, group.Rules...)
	}
	return rules
}

func text(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(runbooks, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestRunbooks wants a page for every alert, with all that one needs at night, and no page without an alert.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(runbooks + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, file := range files {
		pages[filepath.Base(file)] = true
	}
	delete(pages, "README.md")
	overview := text(t, "README.md")
	for _, rule := range all() {
		page := rule.Alert + ".md"
		if !pages[page] {
			t.Errorf("%s has no runbook", rule.Alert)
			continue
		}
		delete(pages, page)
		content, after := text(t, page), 0
		for _, part := range []string{"# " + rule.Alert + "\n", "\n## What it means\n", "\n## Check\n", "```sh\n", "\n## Cure\n", "\n## When not to worry\n"} {
			at := strings.Index(content, part)
			if part == "```sh\n" && rule.Alert == "EtcdRequestsFail" { // it is asked of Prometheus
				continue
			}
			if at < after {
				t.Errorf("%s has no %q where it belongs", page, part)
			}
			after = at
		}
		if row := fmt.Sprintf("\n| [%s](%s) | %s | ", rule.Alert, page, rule.Labels["severity"]); !strings.Contains(overview, row) {
			t.Errorf("README.md has no row that begins with %s", row)
		}
	}
	for page := range pages {
		t.Errorf("there is no alert for %s", page)
	}
}

// TestAlertsSay wants everything that whoever is told needs, and few to be told at night.
func TestAlertsSay(t *testing.T) {
	t.Parallel()
	var critical []string
	for _, rule := range all() {
		switch rule.Labels["severity"] {
		case "critical":
			critical = append(critical, rule.Alert)
		case "warning":
		default:
			t.Errorf("%s: the severity is %q", rule.Alert, rule.Labels["severity"])
		}
		for _, key := range []string{"summary", "description", "runbook_url"} {
			if rule.Annotations[key] == "" {
				t.Errorf("%s has no %s", rule.Alert, key)
			}
		}
	}
	if want := []string{"EtcdQuorumLost", "EtcdWritesRefused"}; !slices.Equal(critical, want) {
		t.Errorf("critical are %v, want %v", critical, want)
	}
}

// TestScale makes every time shorter, those in expressions among them, but none shorter than what it has to hold.
func TestScale(t *testing.T) {
	t.Parallel()
	quick := map[string]alerts.Rule{}
	for _, group := range groups(alerts.Timing{Scale: 20}) {
		for _, rule := range group.Rules {
			quick[rule.Alert] = rule
		}
	}
	for alert, want := range map[string][2]string{
		"EtcdQuorumLost": {"10000ms", "< 0"}, "EtcdBlocked": {"45000ms", "== 1"}, "EtcdSpaceLow": {"90000ms", "86400"},
		"EtcdStuck": {"15000ms", "> 180\n"}, "EtcdLeaderFlaps": {"15000ms", "[45000ms]"}, "EtcdDiskSlow": {"30000ms", "[15000ms]"},
		"EtcdPeerSlow": {"30000ms", "[1m]"},
	} {
		if rule := quick[alert]; rule.For != want[0] || !strings.Contains(rule.Expr, want[1]) {
			t.Errorf("%s is %+v", alert, rule)
		}
	}
}

// TestOwnNamespace wants the alerts about clusters to look at series of one namespace only, as another one has its own of them.
func TestOwnNamespace(t *testing.T) {
	t.Parallel()
	selectors := regexp.MustCompile(`\b(etcd_\w+|grpc_\w+|up)\b(\{[^}]*\})?`)
	for _, group := range alerts.ForClusters("shop", alerts.Timing{}) {
		for _, rule := range group.Rules {
			// Labels by which series are joined are no metrics.
			expr := regexp.MustCompile(`(by|on) \([^)]*\)`).ReplaceAllString(rule.Expr, "")
			for _, found := range selectors.FindAllStringSubmatch(expr, -1) {
				if found[1] != "etcd_cluster" && !strings.HasPrefix(found[2], `{namespace="shop"`) {
					t.Errorf("%s looks at %s", rule.Alert, found[0])
				}
			}
		}
	}
}

// TestUpstreamAlerts maps each of etcd's own alerts to what takes its place, in the order in which etcd has them.
func TestUpstreamAlerts(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(text(t, "README.md"), "\n| etcd's | here | why |\n| --- | --- | --- |\n")
	if !found {
		t.Fatal("README.md has no table of etcd's alerts")
	}
	ours := map[string]bool{}
	for _, rule := range all() {
		ours[rule.Alert] = true
	}
	var listed []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		listed = append(listed, strings.Trim(cells[1], " `"))
		for name := range strings.SplitSeq(cells[2], ",") {
			if name = strings.TrimSpace(name); name != "" && !ours[name] {
				t.Errorf("%s is to take the place of %s", name, cells[1])
			}
		}
	}
	if !slices.Equal(listed, upstream) {
		t.Errorf("listed are %q, want %q", listed, upstream)
	}
}
