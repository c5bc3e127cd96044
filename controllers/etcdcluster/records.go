package etcdcluster

import (
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

func number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return 0
	}
	return n
}

// timeOf parses the time in an annotation; it is zero if there is none.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// permitOf parses the permit in an annotation, nil if there is none.
func permitOf(annotation string) *member.Permit {
	p, err := member.ParsePermit(annotation)
	if annotation == "" || err != nil {
		return nil
	}
	return p
}
