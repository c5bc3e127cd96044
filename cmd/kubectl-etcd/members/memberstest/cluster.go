// Package memberstest has the commands act on real etcd servers in the test's own process.
package memberstest

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Of is a cluster of these servers as the plugin reaches it, where the first voters are known. It is closed when the test ends.
func Of(t testing.TB, c *embedtest.Cluster, voters int) *members.Cluster {
	t.Helper()
	config := members.Config{Name: "demo", Electorate: plan.Electorate{ClusterID: c.ID}}
	for i, m := range c.Members {
		config.Endpoints = append(config.Endpoints, etcd.Endpoint{Pod: m.Name, PodUID: "uid-" + m.Name, Address: m.Address})
		if i < voters {
			config.Electorate.Voters = append(config.Electorate.Voters, m.Name)
		}
	}
	out := members.New(config)
	t.Cleanup(out.Close)
	return out
}

// Healthy waits until all voters are healthy, and returns what is seen then.
func Healthy(t testing.TB, c *members.Cluster) (seen members.View) {
	t.Helper()
	const within = 30 * time.Second
	err := c.Await(t.Context(), within, "all voters are healthy", func(v members.View) bool {
		seen = v
		for _, m := range v.Voters() {
			if !m.Healthy {
				return false
			}
		}
		return v.Leader != "" && len(v.Voters()) == len(c.Electorate.Voters)
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// Follower is the name of a healthy voter that does not lead.
func Follower(t testing.TB, v members.View) string {
	t.Helper()
	heir, err := v.Heir()
	if err != nil {
		t.Fatal(err)
	}
	return heir.Name
}
