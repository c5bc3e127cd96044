package etcd

import (
	"context"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// settling is how many samples of a server that has just started are left out: it fills caches, and catches up with the others.
const settling = 3

// habits are what is remembered of how the members of one cluster usually are.
type habits struct {
	// members are one of each ID, so that a pod that is created anew on its volume goes on where it was; a new member is another one.
	members []habit
	trips   anomaly.Trips
	// looked is when somebody wanted to know first, and seen when a sample of any member was noted last.
	looked, seen time.Time
	// noted is when samples were taken last, and disturbed whether something was under way since that says nothing of the members.
	noted     time.Time
	disturbed bool
}

// habit is that of one member.
type habit struct {
	id uint64
	*anomaly.Habit
	// at is when last, and inUse of the database, were read from the pod of that UID; settles is how many samples are left out from then on.
	uid     string
	at      time.Time
	last    *figures
	inUse   int64
	settles int
}

// Habits notes how the voters are, where that is due, and reports what is unusual. Calm is false while something is done to them, or one of
// them is away: what is measured until the next sample says nothing then, and is left out. The members' metrics are read once in SampleEvery,
// together with those that Compare needs.
func (p *Pool) Habits(ctx context.Context, cluster string, s *Session, calm bool) anomaly.Report {
	c, now, every := p.sampler(cluster, s.Seen.ClusterID), time.Now(), p.every()
	known := &c.habits
	if known.looked.IsZero() {
		known.looked = now
	}
	known.disturbed = known.disturbed || !calm
	if s.Seen.Contact == plan.ContactQuorum {
		c.sample(ctx, s, now, every, false)
		if !tooSoon(c.read, known.noted, every) {
			known.note(s, c.heard, c.read, every)
			known.noted, known.disturbed = c.read, !calm
		}
	}
	return known.report(s.Seen.Members, now, every)
}

// note notes a sample of each voter that has told its figures, heard at that time, unless something was under way.
func (c *habits) note(s *Session, heard map[string]*figures, at time.Time, every time.Duration) {
	if c.members == nil {
		c.members = make([]habit, 0, len(s.voters))
	}
	all, probes := map[*anomaly.Habit]anomaly.Values{}, map[anomaly.Way]anomaly.Probes{}
	for _, p := range s.voters {
		now, known := heard[p.endpoint.PodUID]
		if !known {
			continue
		}
		h := c.habitOf(p.response.MemberID)
		before := h.last
		c.disturbed = c.disturbed || now.copying > 0 || now.copies > before.copies && h.uid == p.endpoint.PodUID
		if values, ok := h.next(p, now, at, every); ok {
			all[h.Habit] = values
			for _, some := range now.probes {
				probes[anomaly.Way{From: p.response.MemberID, To: some.to}] = some.Since(before.probesOf(some.to))
			}
		}
	}
	c.members = slices.DeleteFunc(c.members, func(h habit) bool {
		return !slices.ContainsFunc(s.Seen.Members, func(m plan.Member) bool { return m.ID == h.id && !m.Learner })
	})
	if c.disturbed || len(all) == 0 {
		return
	}
	for h, values := range all {
		h.Note(values, at, every)
	}
	c.seen = at
	c.trips.Note(probes, at, every)
}

// habitOf is that of a member until the next one is asked for; a new one, if nothing is known of it.
func (c *habits) habitOf(id uint64) *habit {
	h := c.known(id)
	if h == nil {
		c.members = append(c.members, habit{id: id, Habit: &anomaly.Habit{}, last: &figures{}})
		h = &c.members[len(c.members)-1]
	}
	return h
}

// known is that of a member until the next one is asked for, nil if nothing is known of it.
func (c *habits) known(id uint64) *habit {
	i := slices.IndexFunc(c.members, func(h habit) bool { return h.id == id })
	if i < 0 {
		return nil
	}
	return &c.members[i]
}

// next is what the member was like since the last time, false if that is not known: another server has counted until then, or the last time is
// long ago.
func (h *habit) next(p peer, now *figures, at time.Time, every time.Duration) (anomaly.Values, bool) {
	before := *h
	h.uid, h.at, h.last, h.inUse = p.endpoint.PodUID, at, now, p.response.DBSizeInUse
	if before.uid != h.uid || now.restarted(before.last) {
		h.settles = settling
		return anomaly.Values{}, false
	}
	if h.settles > 0 {
		h.settles--
		return anomaly.Values{}, false
	}
	since := at.Sub(before.at)
	if since <= 0 || since > anomaly.Missed*every {
		return anomaly.Values{}, false
	}
	v := anomaly.Nothing()
	mean := func(s anomaly.Signal, last, first durations) {
		if seconds, known := last.mean(first); known {
			v[s] = float32(seconds)
		}
	}
	mean(anomaly.Flush, now.flushes, before.last.flushes)
	mean(anomaly.RoundTrip, now.trips, before.last.trips)
	mean(anomaly.Apply, now.applies, before.last.applies)
	v[anomaly.Growth] = float32(float64(h.inUse-before.inUse) / since.Seconds())
	v[anomaly.Elections] = float32((now.elections - before.last.elections) * float64(every) / float64(since))
	return v, true
}

// mean is how long one took since the former, in seconds; 0 and false if there were hardly any.
func (d durations) mean(before durations) (seconds float64, known bool) {
	if d.count-before.count < enough || d.sum < before.sum {
		return 0, false
	}
	return (d.sum - before.sum) / (d.count - before.count), true
}

// report is what is known now of these members.
func (c *habits) report(members []plan.Member, now time.Time, every time.Duration) (r anomaly.Report) {
	if r.Blind = anomaly.Unseen(now.Sub(latest(c.looked, c.seen)), every); !r.Blind {
		r.Trips = &c.trips
	}
	for _, m := range slices.SortedFunc(slices.Values(members), func(a, b plan.Member) int { return plan.CompareNames(a.Name, b.Name) }) {
		if m.Learner {
			continue
		}
		h := &anomaly.Habit{}
		if known := c.known(m.ID); known != nil {
			h = known.Habit
		}
		switch {
		case !h.Learned(now, every):
			r.Learning = append(r.Learning, m.Name)
			if until := h.Until(every); until.After(now) && (r.Until.IsZero() || until.Before(r.Until)) {
				r.Until = until
			}
		case !h.Seen(now, every):
			r.Unseen = append(r.Unseen, m.Name)
		default:
			r.Known = append(r.Known, m.Name)
			for _, s := range h.Scarce() {
				r.Scarce = append(r.Scarce, anomaly.MemberSignal{Member: m.Name, Signal: s})
			}
		}
		for _, d := range h.Deviations() {
			r.Deviations = append(r.Deviations, anomaly.MemberDeviation{Member: m.Name, Deviation: d})
		}
	}
	return r
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
