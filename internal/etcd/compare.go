package etcd

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// kept is how many comparisons are remembered: what one finds, another one has to confirm.
const kept = 2

// comparisons are what is remembered of those of the voters' data, the earlier one first.
type comparisons struct {
	found []plan.Comparison
	// tried is the last compaction at which the data was compared, or could not be.
	tried int64
	// agreed is when all voters' data was last found to be the same at a compaction while etcd had no alarm about it, zero if it never was.
	agreed time.Time
	// last is what the voters had said in the last sample in which all did, and seen when the sample was taken that was looked at last.
	last map[string]*figures
	seen time.Time
}

// Compare compares the voters' data where that is due, and returns the last comparisons, two at most, the earlier one first. None means
// that nothing is known, not that the data is the same. Again is when it may have to be compared again, 0 if nothing is to be confirmed.
//
// etcd hashes all keys with each compaction and keeps the last ten hashes in memory (mvcc/hash.go). HashKV at the revision of any of these
// compactions costs nothing, and at a revision below the last compaction's it never costs anything: there is such a hash, or etcd refuses
// at once (ErrCompacted, mvcc/kvstore.go). At any other revision it reads the whole database under a lock that every commit needs. So
// the data is compared at a compaction that another one has followed, in every voter. Hashes are comparable if the compactions before
// were the same, which each answer names, and if all voters run the same version of etcd.
//
// While etcd itself says that the data differs it takes no compaction, and no write that a scan could hold up: then the last
// compaction is asked for, once. That the data was the same at a compaction before the alarm is forgotten: it says nothing of what came after, also
// once somebody has disarmed the alarm.
func (p *Pool) Compare(ctx context.Context, cluster string, s *Session) (found []plan.Comparison, again time.Duration) {
	c, now, every := p.sampler(cluster, s.Seen.ClusterID), time.Now(), p.every()
	known, corrupt := &c.comparisons, s.corrupt()
	c.sample(ctx, s, now, every, corrupt && c.hurried.IsZero() && s.compares())
	if len(s.voters) > 0 && known.seen.Before(c.read) {
		c.histories.note(c.heard, c.read, every)
		known.note(ctx, s, c.heard, c.read, corrupt)
		c.next(c.read, every, corrupt && s.compares() || known.unconfirmed())
	}
	if corrupt {
		known.found = slices.DeleteFunc(known.found, func(f plan.Comparison) bool { return !f.Differs() })
	}
	if c.hurries(now) {
		again = sampleSoon
	}
	return slices.Clone(known.found), again
}

// compares reports whether every voter answers and follows a leader, and all run the same version of etcd.
func (s *Session) compares() bool {
	voters := len(plan.VotersOf(s.Seen.Members))
	return len(s.voters) == voters && voters > 1 &&
		!slices.ContainsFunc(s.voters, func(p peer) bool { return p.response.Version != s.voters[0].response.Version })
}

// corrupt reports whether every voter says that etcd has found the members' data to differ: a single one cannot make it so.
func (s *Session) corrupt() bool {
	return len(s.voters) > 0 && !slices.ContainsFunc(s.voters, func(p peer) bool {
		return !p.response.Tells(plan.AlarmCorrupt)
	})
}

// note looks at a sample of the voters' metrics, and asks the voters for their hashes if it says that this costs nothing.
func (c *comparisons) note(ctx context.Context, s *Session, now map[string]*figures, at time.Time, corrupt bool) {
	c.seen = at
	if !s.compares() || len(now) < len(s.voters) {
		return
	}
	revision := followed(c.last, now)
	if corrupt {
		revision = final(now)
	}
	if c.last = now; revision <= c.tried {
		return
	}
	c.tried = revision
	if found, ok := s.hashes(ctx, revision); ok {
		if c.found = withLast(c.found, found, kept); !found.Differs() && !corrupt {
			c.agreed = at
		}
	}
}

// Compared is when all voters' data was last found to be the same at a compaction, zero if this process knows of no such time. It stays as it was when
// data is found to differ, and while nothing can be compared.
func (p *Pool) Compared(cluster string, s *Session) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, id := p.samplers[cluster], s.Seen.ClusterID; c != nil && (id == 0 || c.id == id) {
		return c.comparisons.agreed
	}
	return time.Time{}
}

// withLast adds one to what is remembered, and drops the first one where there are as many as are, in place: each append behind a shorter slice would
// allocate twice as much anew.
func withLast[T any](all []T, one T, most int) []T {
	if len(all) == most {
		all = slices.Delete(all, 0, 1)
	}
	return append(all, one)
}

// unconfirmed reports whether data was found to differ at the last comparison and not before.
func (c *comparisons) unconfirmed() bool {
	n := len(c.found)
	return n > 0 && c.found[n-1].Differs() && (n == 1 || !c.found[n-2].Differs())
}

// followed is the revision of a compaction that another one has followed in every member since, 0 if none is known.
func followed(before, now map[string]*figures) int64 {
	revision := int64(0)
	for uid := range now {
		first, known := before[uid]
		if !known || first.compacted <= 0 {
			return 0
		}
		if revision == 0 || first.compacted < revision {
			revision = first.compacted
		}
	}
	for _, member := range now {
		if member.compacted <= revision {
			return 0
		}
	}
	return revision
}

// final is the revision of the compaction that was the last one in every member, and has ended since it started; 0 if they differ.
func final(now map[string]*figures) int64 {
	revision := int64(0)
	for _, member := range now {
		if !member.compacts || member.compacted <= 0 || revision != 0 && member.compacted != revision {
			return 0
		}
		revision = member.compacted
	}
	return revision
}

// hashes asks every voter for its hash at the revision of a compaction; false unless all answer, and all name the same compaction before.
func (s *Session) hashes(ctx context.Context, revision int64) (plan.Comparison, bool) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	answers := make([]*pb.HashKVResponse, len(s.voters))
	var wg sync.WaitGroup
	for i, p := range s.voters {
		wg.Go(func() {
			if answer, err := p.client.HashKV(ctx, revision); err == nil {
				answers[i] = answer
			}
		})
	}
	wg.Wait()
	out := plan.Comparison{Revision: revision, Hashes: make([]plan.MemberHash, 0, len(answers))}
	for i, p := range s.voters {
		a := answers[i]
		if a == nil || a.GetHeader().GetMemberId() != p.response.MemberID || a.GetHeader().GetClusterId() != s.Seen.ClusterID ||
			a.GetCompactRevision() != answers[0].GetCompactRevision() {
			return plan.Comparison{}, false
		}
		out.Hashes = append(out.Hashes, plan.MemberHash{Member: p.response.MemberID, Hash: int64(a.GetHash())})
	}
	slices.SortFunc(out.Hashes, func(a, b plan.MemberHash) int { return cmp.Compare(a.Member, b.Member) })
	return out, true
}
