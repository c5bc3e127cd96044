// Package decision makes a decision of the operator's again from what it has logged, and with an edited spec. It asks nobody.
package decision

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// maxSize is the largest number of voters, that of the schema.
const maxSize = 9

// CheckSet refuses edits that cannot be decided on, each given as name=value.
func CheckSet(fields []string) error { return apply(&plan.Cluster{}, fields) }

// edited is what would have been observed with these fields of the spec, each given as name=value.
func edited(o plan.Observed, fields []string) (plan.Observed, error) {
	if o.Cluster.Invalid != nil {
		return o, fmt.Errorf("the spec is refused (%s: %s), and the log does not have it: whether an edit mends it cannot be told",
			o.Cluster.Invalid.Reason, o.Cluster.Invalid.Message)
	}
	if err := apply(&o.Cluster, fields); err != nil {
		return o, err
	}
	o.Cluster.Spec = "as edited" // it is only compared: with those before, it is none of them
	o.Refused = nil              // an edit has everything tried again
	return o, nil
}

// apply edits a cluster.
func apply(c *plan.Cluster, fields []string) error {
	for _, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("--set %s: give a field and its value, such as size=5", field)
		}
		if err := set(c, name, value); err != nil {
			return fmt.Errorf("--set %s: %w", field, err)
		}
	}
	return nil
}

func set(c *plan.Cluster, name, value string) error {
	switch name {
	case "size":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxSize {
			return fmt.Errorf("a size is a number from 1 to %d", maxSize)
		}
		c.Size = n
	case "version":
		v := version.Normalize(version.Resolve(value, c.Version))
		if err := version.Supported(v); err != nil {
			return fmt.Errorf("the operator would refuse it: %w", err)
		}
		c.Version, c.NewestPatch = v, version.Newest(value)
	case "paused":
		paused, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("it is true or false")
		}
		c.Paused = paused
	case "hibernate":
		hibernate, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("it is true or false")
		}
		c.Hibernate = hibernate
	default:
		return errors.New("of the spec, the operator logs size, version, paused and hibernate: a decision can be made again for these")
	}
	return nil
}
