package memberrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

const (
	// pollPeers is the pause between two rounds of asking the members; a round takes up to peerTimeout for each that is silent.
	pollPeers = 500 * time.Millisecond
	// peerTimeout is etcd's own limit for the whole request (getClusterFromRemotePeers in its server). etcd also limits dialing, to 1 s
	// and the election timeout: a member that takes longer to connect to passes here, and may still make etcd end.
	peerTimeout = 10 * time.Second
	// otherTimeout is how long a member may take to answer whose answer etcd does not need first.
	otherTimeout = 2 * time.Second
	// maxMemberList is the most bytes that are read of an answer: a member takes a few hundred.
	maxMemberList = 64 << 10
	// logEvery is the shortest time between two lines in the log about what is waited for, and maxWords its length in bytes: they may
	// be a stranger's words.
	logEvery = 10 * time.Second
	maxWords = 300
)

// joinable says why a learner cannot join yet, nil if it can. On an empty directory etcd asks the other members for their list, once,
// and ends unless the first one that answers lists just the members of the permit. A name that does not resolve yet, or a member that has
// not heard of the learner yet, would use up the permit, and the kubelet would wait ever longer until it starts the container again.
//
// It is errStarted if any that answers lists the learner as started: its log is lost, and etcd would start without. It could vote for a leader that
// lacks what this member has acknowledged, until the first message of the present leader makes it panic.
func joinable(ctx context.Context, peers *http.Client, name string, permit *member.Permit) error {
	urls := peerURLs(permit.InitialCluster)
	want := slices.Sorted(maps.Values(urls))
	others := slices.DeleteFunc(slices.Clone(want), func(url string) bool { return url == urls[name] })
	why := fmt.Errorf("no other member is in %q", permit.InitialCluster)
	answered := false
	// etcd asks them from first to last, and believes the first that answers. So that one is asked last, and as patiently: its answer is the freshest.
	for i, url := range slices.Backward(others) {
		timeout := otherTimeout
		if i == 0 {
			timeout = peerTimeout
		}
		listed, err := askMembers(ctx, peers, url, permit.ClusterID, timeout)
		switch {
		case listsStarted(listed, permit):
			return errStarted
		case err == nil:
			answered, why = true, sameMembers(url, peerURLsOf(listed), want)
		case !answered:
			why = err
		}
	}
	return why
}

// sameMembers is an error unless the member with that URL lists the members that etcd is to join.
func sameMembers(url string, listed, want []string) error {
	if slices.Equal(listed, want) {
		return nil
	}
	return fmt.Errorf("%s lists the members %v instead of %v", url, listed, want)
}

// errStarted means that another member lists this one as started.
var errStarted = errors.New("another member lists this one as started")

// beginnable says why it is not known that an initial member may start on an empty directory, nil if it is: each other one answers and does not
// list it as started, in which case it is errStarted, or is not there yet. etcd asks too, once, and takes a network that is not ready,
// as after its node has started, for a no.
func beginnable(ctx context.Context, peers *http.Client, name string, permit *member.Permit) error {
	urls := peerURLs(permit.InitialCluster)
	var unknown error
	for other, url := range urls {
		if other == name {
			continue
		}
		listed, err := askMembers(ctx, peers, url, permit.ClusterID, otherTimeout)
		switch {
		case listsStarted(listed, permit):
			return errStarted
		case err != nil && !nobodyThere(err):
			unknown = err
		}
	}
	return unknown
}

// nobodyThere reports whether the network works, and has no member at that address.
func nobodyThere(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, errOther)
}

func listsStarted(listed []listedMember, permit *member.Permit) bool {
	return slices.ContainsFunc(listed, func(m listedMember) bool { return m.ID == uint64(permit.MemberID) && len(m.ClientURLs) > 0 })
}

// listedMember is what a member's list of members says of one.
type listedMember struct {
	ID       uint64   `json:"id"`
	PeerURLs []string `json:"peerURLs"`
	// ClientURLs are empty until the member has published them, which is what it does first once it has started.
	ClientURLs []string `json:"clientURLs"`
}

// peerURLsOf returns the members' peer URLs, sorted.
func peerURLsOf(listed []listedMember) (urls []string) {
	for _, m := range listed {
		urls = append(urls, m.PeerURLs...)
	}
	slices.Sort(urls)
	return urls
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

// errOther means that whoever answers is no member of the cluster, or none yet.
var errOther = errors.New("no answer of a member")

// askMembers returns the members as one of them lists them, by the request that etcd makes itself. A member of another cluster may have
// the address by now.
func askMembers(ctx context.Context, peers *http.Client, url string, cluster member.ID, timeout time.Duration) (members []listedMember, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/members", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := peers.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode >= http.StatusInternalServerError: // as a proxy answers that does not reach it
		return nil, fmt.Errorf("%s/members: %s", url, response.Status)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %s/members: %s", errOther, url, response.Status)
	}
	if id := response.Header.Get("X-Etcd-Cluster-ID"); id != strconv.FormatUint(uint64(cluster), 16) {
		return nil, fmt.Errorf("%w: %s is a member of cluster %q", errOther, url, id)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxMemberList)).Decode(&members); err != nil {
		return nil, fmt.Errorf("%s/members: %w", url, err)
	}
	return members, nil
}

// waiting is what the log knows of a wait.
type waiting struct {
	words string
	told  time.Time
}

// pause waits for the next look at the members, or returns an error when ctx is cancelled. It logs what for if that has changed, but not
// all the time.
func (w *waiting) pause(ctx context.Context, why error) error {
	if words := why.Error()[:min(len(why.Error()), maxWords)]; words != w.words && time.Since(w.told) >= logEvery {
		slog.Info("waiting until etcd may start", "because", words)
		w.words, w.told = words, time.Now()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollPeers):
		return nil
	}
}
