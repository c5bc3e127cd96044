package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Field is the key that a Pass has in a line of the operator's log.
const Field = "replay"

// Pass is one pass of an operator over an EtcdCluster.
type Pass struct {
	// Version is the operator's.
	Version string
	// Live is true if Kubernetes' API server was asked, false if the operator's cache was.
	Live bool
	// Decided is what was decided, in words.
	Decided plan.Description
	// Observed is what it was decided on.
	Observed plan.Observed
}

// Encode returns the pass as JSON, in one line and without what is zero: a container's log may be cut at 16 KiB. In the place of
// specs it has names for them.
func (p Pass) Encode() (json.RawMessage, error) {
	p.Observed = withoutSpecs(p.Observed)
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode what was observed: %w", err)
	}
	var tree any
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber() // they stay as they are written
	if err := numbers.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode what was observed: %w", err)
	}
	if text, err = json.Marshal(pruned(tree)); err != nil {
		return nil, fmt.Errorf("encode what was observed: %w", err)
	}
	return text, nil
}

// withoutSpecs puts a name in the place of each spec's text, the same for the same text: no decision does more with them than
// compare them. The text may hold credentials, in an option of etcd's or in a pod template, and a hash of it would let those be
// guessed.
func withoutSpecs(o plan.Observed) plan.Observed {
	var known []string
	name := func(text *string) {
		if *text == "" {
			return
		}
		i := slices.Index(known, *text)
		if i < 0 {
			i, known = len(known), append(known, *text)
		}
		*text = fmt.Sprintf("spec %d", i+1)
	}
	name(&o.Cluster.Spec)
	for r := &o.Cluster.Record; r != nil; r = r.Previous {
		name(&r.AcceptedSpec)
		name(&r.PreviousSpec)
		if r.Previous != nil { // it is not ours to change
			previous := *r.Previous
			r.Previous = &previous
		}
	}
	o.Refused = slices.Clone(o.Refused)
	for i := range o.Refused {
		o.Refused[i].Message = "" // the API server may quote any value of the spec
	}
	return o
}

// pruned removes the fields from which nothing follows but what follows from their absence. Objects stay, for an empty one may
// stand for something that is there.
func pruned(tree any) any {
	switch at := tree.(type) {
	case map[string]any:
		for key, value := range at {
			if at[key] = pruned(value); zero(at[key]) {
				delete(at, key)
			}
		}
	case []any:
		for i := range at {
			at[i] = pruned(at[i])
		}
	}
	return tree
}

func zero(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == "" || v == "0001-01-01T00:00:00Z" // the zero time
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	}
	return false
}
