package member

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// choices are settings by option.
type choices map[string]Setting

// together finds options that are valid by themselves but that etcd refuses in combination. Those that are not set have etcd's
// defaults. There is at most one problem for now; it names the fields.
func (c choices) together() []string {
	heartbeat, _ := strconv.ParseUint(c.value("heartbeat-interval", "100"), 10, 32)
	election, _ := strconv.ParseUint(c.value("election-timeout", "1000"), 10, 32)
	_, notWhole := strconv.ParseUint(c.value("auto-compaction-retention", "0"), 10, 32)
	hashTime, _ := time.ParseDuration(c.value("compact-hash-check-time", "1m"))
	switch {
	case heartbeat == 0 || election < 5*heartbeat || election > 50000:
		return []string{fmt.Sprintf("%s: etcd's election-timeout would be %d ms and its heartbeat-interval %d ms: make the "+
			"first at least five times the second and at most 50000, and the second at least 1",
			c.fields("election-timeout", "heartbeat-interval"), election, heartbeat)}
	case c.value("auto-compaction-mode", "periodic") == "revision" && notWhole != nil:
		return []string{fmt.Sprintf("%s: the retention is a duration but the mode is revision: set a number of revisions",
			c.fields("auto-compaction-retention", "auto-compaction-mode"))}
	case c.is("enable-lease-checkpoint-persist") && !c.is("enable-lease-checkpoint"):
		return []string{c.fields("enable-lease-checkpoint-persist") + " needs the feature gate LeaseCheckpoint: set it too"}
	case hashTime == 0:
		return []string{c.fields("compact-hash-check-time") + " is 0: set a duration such as 1m"}
	}
	return nil
}

func (c choices) value(option, byDefault string) string {
	if s, ok := c[option]; ok {
		return s.Value
	}
	return byDefault
}

func (c choices) is(option string) bool {
	b, err := strconv.ParseBool(c.value(option, "false"))
	return b && err == nil
}

// fields are where those options were set.
func (c choices) fields(options ...string) string {
	var given []string
	for _, option := range options {
		if s, ok := c[option]; ok {
			given = append(given, s.Field)
		}
	}
	slices.Sort(given)
	return strings.Join(given, " and ")
}
