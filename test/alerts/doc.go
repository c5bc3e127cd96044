// Package alerts has Prometheus's own promtool judge the operator's alerts, on made-up series.
package alerts
