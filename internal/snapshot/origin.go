package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// origin is the cluster that an endpoint leads to.
type origin struct {
	endpoint  string
	clusterID uint64
}

// originOf returns the ID of the one cluster that the endpoints lead to, and fails if they lead to several, or to another one than is
// expected: a mistyped name, or an address that is somebody else's by now, must not have another etcd's data pass for this one's. Nobody is
// shown a password or a token for it, so this comes before the login. Endpoints that do not answer are left to those who need them.
//
// etcd derives the ID from --initial-cluster-token and the peer URLs of its first members: it does not tell etcds apart that were made alike.
func originOf(ctx context.Context, config etcdclient.Config, expected uint64) (uint64, error) {
	if len(config.Endpoints) == 1 && expected == 0 {
		return 0, nil
	}
	config.Username, config.Password, config.Token = "", "", ""
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		origins []origin
	)
	for _, endpoint := range config.Endpoints {
		wg.Go(func() {
			if id := clusterIDOf(ctx, config, endpoint); id != 0 {
				mu.Lock()
				defer mu.Unlock()
				origins = append(origins, origin{endpoint, id})
			}
		})
	}
	wg.Wait()
	return agree(origins, expected)
}

// clusterIDOf is 0 if the endpoint does not say. Why does not matter here: what is asked next fails in the same way, and reports it.
func clusterIDOf(ctx context.Context, config etcdclient.Config, endpoint string) uint64 {
	client, err := connect(ctx, config, endpoint)
	if err != nil {
		return 0
	}
	defer func() { _ = client.Close() }()
	limited, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	id, err := client.ClusterID(limited)
	if err != nil {
		return 0
	}
	return id
}

// ElsewhereError is that all endpoints that say where they lead to lead to one cluster, and another one is expected.
type ElsewhereError struct {
	problem error
	// ClusterID is that of the one that they lead to.
	ClusterID string
}

func (e *ElsewhereError) Error() string { return e.problem.Error() }

// Unwrap returns the problem as it is reported.
func (e *ElsewhereError) Unwrap() error { return e.problem }

// agree returns the cluster ID of all origins, which is the expected one if that is not 0, and fails if there is another. An origin that does
// not say its ID says nothing about the others.
func agree(origins []origin, expected uint64) (uint64, error) {
	slices.SortFunc(origins, func(a, b origin) int { return strings.Compare(a.endpoint, b.endpoint) })
	common := expected
	for _, o := range origins {
		if common == 0 {
			common = o.clusterID
		}
		if o.clusterID != 0 && o.clusterID != common {
			return 0, elsewhere(origins, expected)
		}
	}
	return common, nil
}

// elsewhere is foreign, with the one cluster that all origins name, if that is so.
func elsewhere(origins []origin, expected uint64) error {
	err := foreign(origins, expected)
	if expected == 0 {
		return err
	}
	one, _ := agree(origins, 0)
	if one == 0 {
		return err
	}
	return &ElsewhereError{problem: err, ClusterID: hexadecimal(one)}
}

func foreign(origins []origin, expected uint64) error {
	var told []string
	for _, o := range origins {
		if o.clusterID != expected {
			told = append(told, fmt.Sprintf("%s to %x", o.endpoint, o.clusterID))
		}
	}
	leads := strings.Join(told, ", ")
	message := fmt.Sprintf("the endpoints lead to different etcd clusters, so it is unknown whose data is to be saved, and nothing was. By "+
		"their cluster IDs: %s. Find out which of them is the one to back up, and remove the endpoints of any other from spec.etcdEndpoints", leads)
	if expected != 0 {
		message = fmt.Sprintf("the data is to be that of the etcd cluster %x, and endpoints lead to others, so nothing was saved. By their "+
			"cluster IDs: %s. Find out what answers there in a member's place", expected, leads)
	}
	return failure.New(failure.Problem{Reason: v1beta2.ReasonEtcdForeign, Terminal: true, Message: message})
}
