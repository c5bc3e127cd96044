package etcd

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"
	"time"
)

const (
	// sampleEvery is how often the members of a cluster are asked for their metrics while nothing is suspected. A member's are some 200 KB,
	// so 1,000 clusters of three cost 2 MB/s.
	sampleEvery = 5 * time.Minute
	// sampleSoon is how often while something is, for hurryFor at most: what is suspected may never be proven.
	sampleSoon, hurryFor = 2 * time.Second, 10 * time.Minute
)

// figures are what Auto Pilot reads of a member's metrics.
type figures struct {
	// compacted is the revision of the compaction that the member has begun last, not above 0 before the first.
	compacted int64
	// compacts is true once a compaction has ended since the server started.
	compacts bool
	// flushes of the write-ahead log have ended since the server started, and took so many seconds together.
	flushes, spent float64
}

// sampler remembers what the metrics of one cluster's members said. It is evidence, not state: an operator that starts anew collects it
// anew.
type sampler struct {
	// id is the cluster's: another one of the same name has other data.
	id uint64
	// due is when the members are to be asked next, and hurried when something was suspected first, zero if nothing is.
	due, hurried time.Time
	// last is what the voters have said, by pod UID.
	last map[string]figures
	comparisons
	histories
}

// sampler returns what is remembered of a cluster that answers with that ID, 0 if none does.
func (p *Pool) sampler(cluster string, id uint64) *sampler {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.samplers[cluster]
	if s == nil || id != 0 && s.id != id {
		s = &sampler{id: id}
		p.samplers[cluster] = s
	}
	return s
}

// next sets when the members are to be asked again: in the usual time, or soon while something is suspected.
func (s *sampler) next(now time.Time, every time.Duration, suspect bool) {
	switch {
	case !suspect:
		s.hurried = time.Time{}
	case s.hurried.IsZero():
		s.hurried = now
	}
	s.due = now.Add(every)
	if s.hurries(now) {
		s.due = now.Add(sampleSoon)
	}
}

// hurries reports whether the members are asked more often than usual.
func (s *sampler) hurries(now time.Time) bool {
	return !s.hurried.IsZero() && now.Sub(s.hurried) < hurryFor
}

// figuresOf asks all of these members for their metrics, and returns the figures by pod UID, nil unless all answer.
func figuresOf(ctx context.Context, members []peer) map[string]figures {
	read, known := make([]figures, len(members)), make([]bool, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			known[i] = m.endpoint.Metrics != "" && readMetrics(ctx, m.endpoint.Metrics, read[i].scan) == nil
		})
	}
	wg.Wait()
	out := map[string]figures{}
	for i, m := range members {
		if !known[i] {
			return nil
		}
		out[m.endpoint.PodUID] = read[i]
	}
	return out
}

// scan reads metrics line by line, without parsing what does not matter.
func (f *figures) scan(text io.Reader) error {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if v, ok := value(lines.Bytes(), "etcd_debugging_mvcc_compact_revision "); ok {
			f.compacted = int64(v)
		}
		if v, ok := value(lines.Bytes(), "etcd_debugging_mvcc_db_compaction_last "); ok {
			f.compacts = v > 0
		}
		if v, ok := value(lines.Bytes(), flushFamily+"_count "); ok {
			f.flushes = v
		}
		if v, ok := value(lines.Bytes(), flushFamily+"_sum "); ok {
			f.spent = v
		}
	}
	return lines.Err()
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
