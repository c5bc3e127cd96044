// Command latency measures the operator on the cluster that KUBECONFIG names, and prints tables in markdown: how long the
// steps of a cluster's life take (median and range of several runs), how long several clusters take that are created at
// once, and what the operator costs while all of them are left alone.
package main
