package etcdcluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// refusedFor is for how long certificates that were refused are not checked again while they are the same. Who gives bad ones decides what
// checking them costs, and they are read every few seconds, so that good ones are seen soon.
const refusedFor = time.Minute

// digest stands for what a decision is made on, which would be kept for long, of each cluster.
type digest [sha256.Size]byte

// digestOf is of all that was observed but the time and what this process has made itself.
func digestOf(seen certificates.Observed) (digest, error) {
	seen.Now, seen.Operator, seen.Made = time.Time{}, nil, nil
	text, err := json.Marshal(seen)
	if err != nil {
		return digest{}, fmt.Errorf("encode what is known of certificates: %w", err)
	}
	return sha256.Sum256(text), nil
}

// again is a decision that stands because it was a refusal of the same, nil if there is none. One that goes on with what members serve does
// not: that is not among what was seen.
func (c *certified) again(seen, dependsOn digest, secrets map[string]*outline,
	requests []certificateRequest, now time.Time,
) *certified {
	if c == nil || c.Problem == nil || len(c.Writes) > 0 || c.AskServed || c.seen != seen || c.dependsOn != dependsOn || now.Sub(c.decided) >= refusedFor {
		return nil
	}
	same := *c
	same.secrets, same.requests, same.until = secrets, requests, now.Add(rotationPoll)
	return &same
}
