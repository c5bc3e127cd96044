package memberrun

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// pollPeers is how often a learner that cannot join yet asks the members.
	pollPeers = 500 * time.Millisecond
	// peerTimeout is how long a member may take to answer, etcd's own limit for this request (getClusterFromRemotePeers in its
	// server): one that is slower for etcd would make it end.
	peerTimeout = 10 * time.Second
	// maxMemberList is the most bytes that are read of an answer: a member takes a few hundred.
	maxMemberList = 1 << 20
)

// joinable says why a learner cannot join yet, nil if it can. On an empty directory etcd asks the other members for their list, once,
// and ends unless the first one that answers lists just the members of initialCluster. That would use up the permit and have the kubelet
// wait ever longer until the next start, only because a name does not resolve yet or because a member has not heard of the learner yet.
func joinable(ctx context.Context, name, initialCluster string) error {
	urls := peerURLs(initialCluster)
	own := urls[name]
	want := slices.Sorted(maps.Values(urls))
	err := fmt.Errorf("no other member is in %q", initialCluster)
	for _, url := range want { // etcd asks in this order, too
		if url == own {
			continue
		}
		var listed []string
		if listed, err = askMembers(ctx, url); err != nil {
			continue
		}
		if !slices.Equal(listed, want) {
			return fmt.Errorf("%s lists the members %v instead of %v", url, listed, want)
		}
		return nil
	}
	return err
}

// peerURLs reads etcd's list of name=url.
func peerURLs(initialCluster string) map[string]string {
	urls := map[string]string{}
	for pair := range strings.SplitSeq(initialCluster, ",") {
		name, url, _ := strings.Cut(pair, "=")
		urls[name] = url
	}
	return urls
}

// askMembers returns the sorted peer URLs of the members as one of them lists them, by the request that etcd makes itself.
func askMembers(ctx context.Context, url string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/members", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := peerClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/members: %s", url, response.Status)
	}
	var members []struct {
		PeerURLs []string `json:"peerURLs"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxMemberList)).Decode(&members); err != nil {
		return nil, fmt.Errorf("%s/members: %w", url, err)
	}
	var urls []string
	for _, m := range members {
		urls = append(urls, m.PeerURLs...)
	}
	slices.Sort(urls)
	return urls, nil
}

// peerClient follows no redirect and uses no proxy, as members among themselves.
var peerClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// pause waits for the next look at the members, and says once what for.
func pause(ctx context.Context, why error, last string) string {
	if words := why.Error(); words != last {
		slog.Info("waiting until etcd can join", "because", words)
		last = words
	}
	select {
	case <-ctx.Done():
	case <-time.After(pollPeers):
	}
	return last
}
