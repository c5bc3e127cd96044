package etcd

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

// figures are what Auto Pilot reads of a member's metrics. Those that count go up only, until the server starts anew.
type figures struct {
	// compacted is the revision of the compaction that the member has begun last, not above 0 before the first.
	compacted int64
	// compacts is true once a compaction has ended since the server started.
	compacts bool
	// flushes, trips and applies are how long these took.
	flushes, trips, applies took
	// tripTimes are how many round trips took up to how long.
	tripTimes anomaly.Buckets
	// elections are the changes of the leader that the member has seen.
	elections float64
	// copies are how often the member was asked for a snapshot or defragmented; copying is how many readers of snapshots there are now, and
	// defragmentations.
	copies, copying float64
	consumption
}

// took is how often something was done, and how long it took together, in seconds.
type took struct{ sum, count float64 }

// The metrics that figures are made of, besides those of package-wide families. etcd 3.5, 3.6 and 3.7 have all of them.
const (
	requestFamily  = "etcd_server_apply_duration_seconds"
	electedFamily  = "etcd_server_leader_changes_seen_total"
	rewriteFamily  = "etcd_disk_backend_defrag_duration_seconds_count"
	tripTimesBegin = probeFamily + "_bucket{"
)

// scan reads metrics line by line, without parsing what does not matter.
func (f *figures) scan(text io.Reader) error {
	lines, handled := bufio.NewScanner(text), 0.0
	for lines.Scan() {
		line := lines.Bytes()
		f.consumption.scan(line)
		if !bytes.HasPrefix(line, []byte("etcd_")) && !ofSnapshots(line) {
			continue
		}
		if v, ok := value(line, compactFamily+" "); ok {
			f.compacted = int64(v)
		}
		if v, ok := value(line, "etcd_debugging_mvcc_db_compaction_last "); ok {
			f.compacts = v > 0
		}
		if v, ok := value(line, electedFamily+" "); ok {
			f.elections = v
		}
		if v, ok := value(line, rewriteFamily+" "); ok {
			f.copies += v
		}
		if v, ok := value(line, defragmentFamily+" "); ok {
			f.copying += v
		}
		f.flushes.add(line, flushFamily)
		f.trips.add(line, probeFamily)
		f.applies.add(line, requestFamily)
		f.addTrips(line)
		if v, ok := labelled(line, startedFamily); ok {
			f.copies, f.copying = f.copies+v, f.copying+v
		}
		if v, ok := labelled(line, handledFamily); ok {
			handled += v
		}
	}
	f.copying -= handled
	return lines.Err()
}

// add reads a line if it is of that histogram, whatever its labels.
func (t *took) add(line []byte, histogram string) {
	if v, ok := labelled(line, histogram+"_sum"); ok {
		t.sum += v
	}
	if v, ok := labelled(line, histogram+"_count"); ok {
		t.count += v
	}
}

// addTrips reads a line if it is a bucket of round trips: those to all other members count together.
func (f *figures) addTrips(line []byte) {
	if !bytes.HasPrefix(line, []byte(tripTimesBegin)) {
		return
	}
	_, bound, _ := bytes.Cut(line, []byte(`le="`))
	bound, _, _ = bytes.Cut(bound, []byte(`"`))
	v, known := labelled(line, probeFamily+"_bucket")
	le, err := strconv.ParseFloat(string(bound), 64)
	if !known || err != nil || v > math.MaxUint32 {
		return
	}
	last := len(f.tripTimes) - 1
	i := last
	if !math.IsInf(le, 1) {
		i = int(math.Round(math.Log2(le / 0.0001)))
	}
	if i >= 0 && i <= last {
		f.tripTimes[i] += uint32(v)
	}
}

// value is that of a metric without labels, whose name ends with the space before it.
func value(line []byte, name string) (float64, bool) {
	text, ok := bytes.CutPrefix(line, []byte(name))
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil
}

// labelled is the value of a metric with that name, with labels or without, that counts: what is no number from 0 on is not believed.
func labelled(line []byte, name string) (float64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(name))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '{' {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(rest[bytes.LastIndexByte(rest, ' ')+1:]), 64)
	return v, err == nil && v >= 0 && v <= exact
}
