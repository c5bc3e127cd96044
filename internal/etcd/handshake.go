package etcd

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// handshakeLimit is how many bytes of a failed handshake's error are kept: it may quote every name in a server's certificate.
const handshakeLimit = 300

// handshakesOf are the failures that matter, one for each pod.
func handshakesOf(failures []plan.HandshakeFailure, electorate plan.Electorate, listed []plan.Member) []plan.HandshakeFailure {
	known := slices.DeleteFunc(failures, func(f plan.HandshakeFailure) bool { return !electorate.Knows(f.Pod, listed) })
	slices.SortFunc(known, func(a, b plan.HandshakeFailure) int { return cmp.Compare(a.Pod, b.Pod) })
	if len(known) == 0 {
		return nil
	}
	return known
}

// muteOf are the pods that matter of those that take connections and do not answer.
func muteOf(mute []Endpoint, electorate plan.Electorate, listed []plan.Member) (names []string) {
	for _, e := range mute {
		if electorate.Knows(e.Pod, listed) {
			names = append(names, e.Pod)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// printable cuts a message that a stranger may have had a hand in.
func printable(message string) string {
	message = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, message)
	return failure.Cut(message, handshakeLimit)
}
