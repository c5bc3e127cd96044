// Package dashboards holds what Grafana is to show: one dashboard of all clusters, and one of a single cluster.
//
// The queries are Prometheus's. A series of the operator's may be there twice while its pod is replaced, so each is aggregated.
package dashboards

import "strings"

// Kind is how a panel shows what its queries return.
type Kind string

// The kinds, in Grafana's words.
const (
	Graph Kind = "timeseries"
	Stat  Kind = "stat"
	Table Kind = "table"
)

// Unit is what the numbers of a panel are, in Grafana's words.
type Unit string

// The units. None is a plain number.
const (
	None          Unit = "none"
	Seconds       Unit = "s"
	Bytes         Unit = "bytes"
	BytesASecond  Unit = "Bps"
	Ratio         Unit = "percentunit"
	RequestsASec  Unit = "reqps"
	EventsASecond Unit = "ops"
)

// Query is one expression. In it, $namespace and $cluster are what is chosen above the panels, and $__rate_interval is a window that Grafana
// makes long enough to see several samples.
type Query struct {
	Expr string
	// Legend names a series by its labels, as in "{{etcd_node}}".
	Legend string
	// Quiet says why there may be no point although all is well; empty if there always is one.
	Quiet string
}

// Panel is one picture.
type Panel struct {
	Title, Description string
	Kind               Kind
	Unit               Unit
	Queries            []Query
	// Named panels show the names of their series in place of the numbers.
	Named bool
	// Bad is where a number becomes alarming, nil if none does. Below turns the comparison around.
	Bad   *float64
	Below bool
}

// Row is some panels with a title.
type Row struct {
	Title  string
	Panels []Panel
}

// Dashboard is what Grafana shows on one page.
type Dashboard struct {
	// Name is that of its file, without .json, and UID its name in Grafana, by which others link to it.
	Name, UID, Title string
	Variables        []Variable
	Rows             []Row
}

// Variable is what is chosen above the panels.
type Variable struct {
	// Name is that in expressions, without $.
	Name, Label string
	// Values is the query for what there is to choose from.
	Values string
	// Several may be chosen, or all.
	Several bool
}

// All returns the dashboards.
func All() []Dashboard { return []Dashboard{fleet(), cluster()} }

// Panels are those of all rows.
func (d Dashboard) Panels() (all []Panel) {
	for _, row := range d.Rows {
		all = append(all, row.Panels...)
	}
	return all
}

// With puts in what Grafana does: values for the variables, and a window.
func (q Query) With(namespace, cluster, window string) string {
	return strings.NewReplacer("$namespace", namespace, "$cluster", cluster, "$__rate_interval", window).Replace(q.Expr)
}

// one is a query without a legend that is worth showing.
func one(expr string) []Query { return []Query{{Expr: expr}} }

// by is a query whose series have a legend.
func by(legend, expr string) []Query { return []Query{{Expr: expr, Legend: legend}} }

func quiet(why, legend, expr string) []Query {
	return []Query{{Expr: expr, Legend: legend, Quiet: why}}
}

// seriesOf has either side's metrics say which clusters there are, as the operator's or the members' may be all that is collected.
const seriesOf = `{__name__=~"etcd_operator_cluster_info|etcd_server_has_leader", etcd_cluster!=""`
