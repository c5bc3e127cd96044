// Package ctl is "kubectl etcd ctl": etcd's own etcdctl, with tunnels to the members of a cluster.
//
// etcdctl is run, and not linked: a package that it imports draws progress bars with text/template, for which the linker keeps every method of
// every type in the program. That is 30 MB, beside a dozen modules.
package ctl

import "strings"

// program is etcdctl's name.
const program = "etcdctl"

// ownFlags are etcdctl's flags that this program sets. Variables of the environment for the same would contradict them, which etcdctl
// refuses.
var ownFlags = []string{"endpoints", "cacert", "cert", "key", "dial-timeout", "discovery-srv", "discovery-srv-name", "insecure-transport"}

// environment is that of etcdctl, without what contradicts the flags.
func environment(all []string) (out []string) {
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if !isOwn(name) {
			out = append(out, variable)
		}
	}
	return out
}

func isOwn(variable string) bool {
	for _, flag := range ownFlags {
		if strings.EqualFold(variable, "ETCDCTL_"+strings.ReplaceAll(flag, "-", "_")) {
			return true
		}
	}
	return false
}
