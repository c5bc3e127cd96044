package main

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// compacted is the revision of the last compaction, by etcd's metrics, and between how many revisions lie from one to the next here.
const (
	compacted = "etcd_debugging_mvcc_compact_revision"
	between   = 1000
)

// steady are what a healthy member does not count: it sees no elections, and nobody copies its database.
var steady = []string{
	"etcd_server_leader_changes_seen_total", "etcd_disk_backend_defrag_duration_seconds", "etcd_disk_backend_snapshot_duration_seconds",
}

// exposition is what a member of etcd serves as its metrics, in which everything that counts has gone on whenever it is read.
type exposition struct {
	counts []count
	rest   string
}

// count is a value that goes up by as much with each read, and the text before it.
type count struct {
	before string
	value  float64
}

// newExposition takes what a real server has served.
func newExposition(text string) *exposition {
	e, types, constant := &exposition{}, map[string]string{}, strings.Builder{}
	for line := range strings.Lines(text) {
		if declared, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(declared), " ")
			types[name] = kind
		}
		end := strings.LastIndexByte(line, ' ') + 1
		value, err := strconv.ParseFloat(strings.TrimSpace(line[end:]), 64)
		name := line[:max(0, strings.IndexAny(line, " {"))]
		if name == compacted {
			value = between
		}
		if strings.HasPrefix(line, "#") || err != nil || value == 0 || !grows(name, types) {
			constant.WriteString(line)
			continue
		}
		constant.WriteString(line[:end])
		e.counts = append(e.counts, count{before: constant.String(), value: value})
		constant.Reset()
		constant.WriteByte('\n')
	}
	e.rest = constant.String()
	return e
}

// grows reports whether a metric goes up while a member is healthy, and never down.
func grows(name string, types map[string]string) bool {
	family := name
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if whole, ok := strings.CutSuffix(name, part); ok && types[whole] == "histogram" {
			family = whole
		}
	}
	counts := types[family] == "counter" || types[family] == "histogram"
	return name == compacted || counts && !slices.Contains(steady, family)
}

// write writes what is served to the n-th reader, from 1 on.
func (e *exposition) write(to io.Writer, n int64) error {
	var number []byte
	for _, c := range e.counts {
		number = strconv.AppendFloat(number[:0], c.value*float64(n), 'g', -1, 64)
		if _, err := io.WriteString(to, c.before); err != nil {
			return err
		}
		if _, err := to.Write(number); err != nil {
			return err
		}
	}
	_, err := io.WriteString(to, e.rest)
	return err
}
