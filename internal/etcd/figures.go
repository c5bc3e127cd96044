package etcd

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

// figures are what Auto Pilot reads of a member's metrics. Those that count go up only, until the server starts anew. Once read, nobody changes
// them: whoever remembers the last ones remembers the same.
type figures struct {
	// compacted is the revision of the compaction that the member has begun last, not above 0 before the first.
	compacted int64
	// compacts is true once a compaction has ended since the server started.
	compacts bool
	// flushes, trips and applies are how long these took.
	flushes, trips, applies durations
	// probes are how long those of each other member took.
	probes []probed
	// started is when the server's process was, in seconds since 1970; 0 if it does not tell.
	started float64
	// elections are the changes of the leader that the member has seen.
	elections float64
	// copies are how often the member was asked for a snapshot or defragmented; copying is how many readers of snapshots there are now, and
	// defragmentations.
	copies, copying float64
	consumption
}

// probed is a member that another one probes, by its ID. A map of them would take four times the memory.
type probed struct {
	to uint64
	anomaly.Probes
}

// durations are how often something was done, and how long it took together, in seconds.
type durations struct{ sum, count float64 }

// The metrics that figures are made of, besides those of package-wide families. etcd 3.5, 3.6 and 3.7 have all of them.
const (
	endedFamily   = "etcd_debugging_mvcc_db_compaction_last"
	requestFamily = "etcd_server_apply_duration_seconds"
	electedFamily = "etcd_server_leader_changes_seen_total"
	rewriteFamily = "etcd_disk_backend_defrag_duration_seconds_count"
	processFamily = "process_start_time_seconds"
	probesBegin   = probeFamily + `_bucket{To="`
	probesSum     = probeFamily + `_sum{To="`
)

// others are of how many other members probes are read: of one more than a cluster can have, as one may be on its way out.
const others = 9

// scan reads metrics line by line, without parsing what does not matter.
func (f *figures) scan(text io.Reader) error {
	lines, handled := bufio.NewScanner(text), 0.0
	for lines.Scan() {
		line := lines.Bytes()
		f.consumption.scan(line)
		if !bytes.HasPrefix(line, []byte("etcd_")) && !ofSnapshots(line) {
			if v, ok := value(line, processFamily+" "); ok {
				f.started = v
			}
			continue
		}
		if v, ok := value(line, compactFamily+" "); ok && v >= 0 && v <= exact { // it is -1 before anything is compacted
			f.compacted = int64(v)
		}
		if v, ok := value(line, endedFamily+" "); ok {
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
		f.addProbes(line)
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
func (d *durations) add(line []byte, histogram string) {
	if !bytes.HasPrefix(line, []byte(histogram)) { // the names of its parts are made of it where they matter: there are a thousand lines
		return
	}
	if v, ok := labelled(line, histogram+"_sum"); ok {
		d.sum += v
	}
	if v, ok := labelled(line, histogram+"_count"); ok {
		d.count += v
	}
}

// addProbes reads a line if it is of the histogram of probes.
func (f *figures) addProbes(line []byte) {
	rest, bucket := bytes.CutPrefix(line, []byte(probesBegin))
	if !bucket {
		var sum bool
		if rest, sum = bytes.CutPrefix(line, []byte(probesSum)); !sum {
			return
		}
	}
	label, rest, found := bytes.Cut(rest, []byte(`"`))
	to, none := strconv.ParseUint(string(label), 16, 64)
	v, err := strconv.ParseFloat(string(rest[bytes.LastIndexByte(rest, ' ')+1:]), 64)
	i, ok := bucketOf(rest)
	if !found || none != nil || err != nil || !(v >= 0 && v <= math.MaxUint32) || bucket && !ok {
		return
	}
	p := f.probe(to)
	switch {
	case p == nil:
	case bucket:
		p.Took[i] = uint32(v)
	default:
		p.Sum = v
	}
}

// probe is where probes of that member are noted, nil if there are too many.
func (f *figures) probe(to uint64) *anomaly.Probes {
	i := slices.IndexFunc(f.probes, func(p probed) bool { return p.to == to })
	if i < 0 {
		if i = len(f.probes); i == others {
			return nil
		}
		f.probes = append(f.probes, probed{to: to})
	}
	return &f.probes[i].Probes
}

// probesOf are those of that member, none if there are none.
func (f *figures) probesOf(to uint64) anomaly.Probes {
	for _, p := range f.probes {
		if p.to == to {
			return p.Probes
		}
	}
	return anomaly.Probes{}
}

// bucketOf is the number of the bucket with that label: the first one is up to 0.1 ms, each other one up to twice as much, and the last one all.
func bucketOf(line []byte) (int, bool) {
	_, text, _ := bytes.Cut(line, []byte(`le="`))
	text, _, _ = bytes.Cut(text, []byte(`"`))
	bound, err := strconv.ParseFloat(string(text), 64)
	const last = len(anomaly.Buckets{}) - 1
	if err != nil || math.IsInf(bound, 1) {
		return last, err == nil
	}
	i := math.Round(math.Log2(bound / 0.0001))
	return int(i), i >= 0 && i < float64(last)
}

// restarted reports whether these are of a server that started after the others were read.
func (f *figures) restarted(before *figures) bool {
	return f.started != before.started || startedAnew(before.flushes.count, f.flushes.count) || startedAnew(before.applies.count, f.applies.count) ||
		startedAnew(before.trips.count, f.trips.count) || startedAnew(before.elections, f.elections) || startedAnew(before.copies, f.copies)
}

// startedAnew reports whether a server has started between two values that it told of one counter, as far as that tells: a counter goes back with
// its process only.
func startedAnew(before, now float64) bool { return now < before }

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
