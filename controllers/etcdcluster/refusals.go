package etcdcluster

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// firstRetry is the pause after the first refusal of a write. It doubles up to longest.
	firstRetry = 2 * time.Second
	// unasked is for how long a refusal is remembered after its write could have been tried again and was not.
	unasked = 2 * time.Minute
	// retold is how long a refusal is not told of once more, although its words have changed: they may contain a time or a number.
	retold = 10 * time.Minute
)

// refusals are the writes that the API server has refused, per cluster. Nothing is stored in Kubernetes: a new process learns each
// anew with one request. There is one for each write that was tried lately, however many these are: a replacement of authorities goes on only
// once it knows of every Secret that cannot be written. The zero value is empty. It is safe for concurrent use.
type refusals struct {
	mu    sync.Mutex
	known map[types.NamespacedName]map[plan.Target]*refusal
}

// refusal is what is remembered of one write.
type refusal struct {
	plan.Refusal
	// generation is that of the spec: after an edit the write may be another one, and is tried at once.
	generation int64
	// pause is the one before RetryAt, asked when the write was tried last.
	pause time.Duration
	asked time.Time
	// told is when there was an event of it, zero if there was none.
	told time.Time
	// lapsed is true once the write could have been tried again and was not wanted. If it is wanted later, this is no news.
	lapsed bool
}

// note records that a write was refused, and reports whether that is news: it was not refused before, or with other words.
func (r *refusals) note(cluster types.NamespacedName, generation int64, target plan.Target, message string, now time.Time) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[types.NamespacedName]map[plan.Target]*refusal{}
	}
	own := r.known[cluster]
	if own == nil {
		own = map[plan.Target]*refusal{}
		r.known[cluster] = own
	}
	e := own[target]
	if e == nil || e.generation != generation {
		e = &refusal{Refusal: plan.Refusal{Target: target, Since: now}, generation: generation, pause: firstRetry / 2}
		own[target] = e
	}
	news = e.Message != message
	if news && now.Sub(e.told) > retold {
		e.told = time.Time{}
	}
	e.Message, e.asked, e.pause, e.lapsed = message, now, min(2*e.pause, longest), false
	e.RetryAt = now.Add(e.pause)
	return news
}

// hold puts off the next try of a refused write.
func (r *refusals) hold(cluster types.NamespacedName, target plan.Target, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.known[cluster][target]; e != nil && e.RetryAt.Before(until) {
		e.RetryAt = until
	}
}

// done forgets the refusal of a write that was accepted.
func (r *refusals) done(cluster types.NamespacedName, target plan.Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known[cluster], target)
}

// lapse takes note of a pass that wants no write: whatever could be tried again is not wanted any more, or not yet.
func (r *refusals) lapse(cluster types.NamespacedName, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.known[cluster] {
		e.lapsed = e.lapsed || !now.Before(e.RetryAt)
	}
}

// of returns the refusals of a cluster of what is wanted, sorted by target. It forgets those of another generation of its spec, and
// those of writes that were not wanted for a while.
func (r *refusals) of(cluster types.NamespacedName, generation int64, now time.Time) []plan.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []plan.Refusal
	for target, e := range r.known[cluster] {
		if e.generation != generation || now.Sub(e.RetryAt) > unasked {
			delete(r.known[cluster], target)
			continue
		}
		if !e.lapsed {
			all = append(all, e.Refusal)
		}
	}
	sortByTarget(all)
	return all
}

// untold returns, once, the refusals that there is no event of yet, sorted by target.
func (r *refusals) untold(cluster types.NamespacedName, now time.Time) []plan.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []plan.Refusal
	for _, e := range r.known[cluster] {
		if e.told.IsZero() {
			e.told, all = now, append(all, e.Refusal)
		}
	}
	sortByTarget(all)
	return all
}

func (r *refusals) forget(cluster types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, cluster)
}

func sortByTarget(all []plan.Refusal) {
	slices.SortFunc(all, func(a, b plan.Refusal) int {
		return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Kind, b.Kind), plan.CompareNames(a.Name, b.Name))
	})
}

// nextTry is how long it takes until the first of them may be tried again, or until they are to be looked at in any case.
func nextTry(all []plan.Refusal, now time.Time) time.Duration {
	next := longest
	for _, r := range all {
		if left := r.RetryAt.Sub(now); left > 0 {
			next = min(next, left)
		}
	}
	return next
}
