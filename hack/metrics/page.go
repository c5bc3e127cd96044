package main

import (
	"fmt"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

const head = `# Metrics

These are the operator's own metrics, beside those of controller-runtime and Go that it serves, too. [Observability](observability.md) says how Prometheus gets them, and the members' own, at port 2381; [runbooks](runbooks/README.md) what it tells you of. Names and labels stay as they are.
<!-- Written by make generate from internal/metrics. -->
`

// sections are the parts of the page. A metric belongs to the first one that its name begins with.
var sections = []struct{ prefix, title, intro string }{
	{"etcd_operator_cluster_", "Of each EtcdCluster", fmt.Sprintf(
		"They show the last observation, and are removed with the cluster. One cluster has at most %d series, and one more for each feature of Auto Pilot "+
			"that holds something, and one or two while volumes are kept. None is about one member: members export their own metrics.", metrics.MaxClusterSeries)},
	{"etcd_operator_backup_", "Of each EtcdBackup", "They exist from its creation, and are removed with it. What status tells is the same after a restart of the operator; counters begin at 0."},
	{"etcd_operator_", "Of the operator", ""},
}

// page is the document.
func page(all []metrics.Family) string {
	var b strings.Builder
	b.WriteString(head)
	rest := all
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", s.intro)
		}
		b.WriteString("| metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n")
		var others []metrics.Family
		for _, f := range rest {
			if !strings.HasPrefix(f.Name, s.prefix) {
				others = append(others, f)
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Type, f.Unit(), labels(f), strings.ReplaceAll(f.Help, "|", `\|`))
		}
		rest = others
	}
	return b.String()
}

func labels(f metrics.Family) string {
	if len(f.Labels) == 0 {
		return ""
	}
	return "`" + strings.Join(f.Labels, "`, `") + "`"
}
