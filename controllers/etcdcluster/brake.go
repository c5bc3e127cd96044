package etcdcluster

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxDisturbed is how many clusters of the operator Auto Pilot disturbs at a time. What goes wrong in the first ones, it does to no more.
	maxDisturbed = 5
	// maxOfNamespace is how many of these are of one namespace: who has many clusters that never get well keeps nobody else waiting.
	maxOfNamespace = 3
	// lingers is how long a cluster counts as disturbed after an act at least: some have steps between which nothing is to be seen.
	lingers = 30 * time.Second
	// lapses is when a cluster counts as disturbed no more although it is not well again: the others would wait for good.
	lapses = time.Hour
	// asksAgain is how long a cluster keeps its place among those that wait without saying so. Each looks at itself once a minute.
	asksAgain = 5 * time.Minute
)

// brake bounds how many clusters Auto Pilot disturbs at a time. Of those that wait, the next turn goes to the namespace with the fewest disturbed
// clusters, between equals to the one that has waited longest since its last turn, and within it to the cluster that asked first: so how long a
// namespace waits depends on how many others wait, not on how many clusters they have. It is known to the process only: after a restart as many
// may begin as ever, beside those that are at it. The zero value is empty. It is safe for concurrent use.
type brake struct {
	mu sync.Mutex
	// disturbed are the clusters that are, with the time of the last act.
	disturbed map[types.NamespacedName]time.Time
	// waiting are in the order of asking, but those whose namespace has had a turn since are behind all others.
	waiting []turn
	waker
}

// turn is a cluster that waits, and when it last said so.
type turn struct {
	cluster types.NamespacedName
	asked   time.Time
}

// may reports whether a cluster is disturbed, or can be: what is free is not for others that wait.
func (b *brake) may(cluster types.NamespacedName, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune(now)
	return b.admits(cluster)
}

// take counts a cluster as disturbed from now on, unless too many others are.
func (b *brake) take(cluster types.NamespacedName, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune(now)
	if !b.admits(cluster) {
		return false
	}
	if b.disturbed == nil {
		b.disturbed = map[types.NamespacedName]time.Time{}
	}
	if _, goesOn := b.disturbed[cluster]; !goesOn {
		b.waiting = afterTurn(b.waiting, cluster)
	}
	b.disturbed[cluster] = now
	b.dequeue(cluster)
	return true
}

// wait gives a cluster a place behind those that wait already. It keeps the one that it has.
func (b *brake) wait(cluster types.NamespacedName, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.place(cluster); i < len(b.waiting) {
		b.waiting[i].asked = now
		return
	}
	b.waiting = append(b.waiting, turn{cluster, now})
}

// calm notes that a cluster is well and waits for nothing. It returns after how long to note that again for the next one to have its turn, 0
// if that is not necessary.
func (b *brake) calm(cluster types.NamespacedName, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dequeue(cluster)
	last, disturbed := b.disturbed[cluster]
	if left := last.Add(lingers).Sub(now); disturbed && left > 0 {
		return left
	}
	b.release(cluster)
	return 0
}

// leave notes that a cluster wants nothing, whether or not it is well.
func (b *brake) leave(cluster types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dequeue(cluster)
}

func (b *brake) forget(cluster types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dequeue(cluster)
	b.release(cluster)
}

func (b *brake) admits(cluster types.NamespacedName) bool {
	_, disturbed := b.disturbed[cluster]
	return disturbed || slices.Contains(b.next(turn{cluster: cluster}), cluster)
}

// next are those whose turn it is, in their order: of those that wait, and behind them of the newcomers. To come once more behind one's own
// place gives nobody a turn that he has not there.
func (b *brake) next(newcomers ...turn) (turns []types.NamespacedName) {
	free, share := maxDisturbed-len(b.disturbed), map[string]int{}
	for cluster := range b.disturbed {
		share[cluster.Namespace]++
	}
	queue := slices.Concat(b.waiting, newcomers)
	for len(queue) > 0 && len(turns) < free {
		first := slices.MinFunc(queue, func(t, u turn) int { return cmp.Compare(share[t.cluster.Namespace], share[u.cluster.Namespace]) }).cluster
		if share[first.Namespace] >= maxOfNamespace {
			break
		}
		turns, queue = append(turns, first), afterTurn(queue, first)
		share[first.Namespace]++
	}
	return turns
}

// afterTurn is a queue after a cluster of it has had its turn: the others of its namespace, in their order, are behind those of all other namespaces.
func afterTurn(queue []turn, cluster types.NamespacedName) []turn {
	var others, own []turn
	for _, t := range queue {
		switch {
		case t.cluster.Namespace != cluster.Namespace:
			others = append(others, t)
		case t.cluster != cluster:
			own = append(own, t)
		}
	}
	return append(others, own...)
}

// place is where a cluster is among those that wait, behind them if it is none.
func (b *brake) place(cluster types.NamespacedName) int {
	i := slices.IndexFunc(b.waiting, func(t turn) bool { return t.cluster == cluster })
	if i < 0 {
		return len(b.waiting)
	}
	return i
}

func (b *brake) dequeue(cluster types.NamespacedName) {
	b.waiting = slices.DeleteFunc(b.waiting, func(t turn) bool { return t.cluster == cluster })
}

func (b *brake) release(cluster types.NamespacedName) {
	if _, disturbed := b.disturbed[cluster]; !disturbed {
		return
	}
	delete(b.disturbed, cluster)
	b.wake(b.next()...)
}

// prune forgets whoever has not been heard of for too long.
func (b *brake) prune(now time.Time) {
	b.waiting = slices.DeleteFunc(b.waiting, func(t turn) bool { return now.Sub(t.asked) > asksAgain })
	for cluster, last := range b.disturbed {
		if now.Sub(last) > lapses {
			delete(b.disturbed, cluster)
		}
	}
}
