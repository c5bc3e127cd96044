package accounts

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// slow is how long etcd may take to fail before it costs the others' objects more than another question is worth.
const slow = time.Second

// Silence remembers which clusters do not answer, so that the objects of one cluster do not keep all workers waiting. Its zero value
// knows of none.
type Silence struct {
	mutex sync.Mutex
	// until is when a cluster is asked again, by its UID.
	until map[types.UID]time.Time
}

// asks reports whether a cluster may be asked now. One that was silent is asked by one pass at a time.
func (s *Silence) asks(cluster types.UID, now time.Time) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	until, silent := s.until[cluster]
	if !silent {
		return true
	}
	if now.Before(until) {
		return false
	}
	s.until[cluster] = now.Add(askAgain)
	return true
}

// heard remembers how a question that took so long has ended.
func (s *Silence) heard(cluster types.UID, now time.Time, took time.Duration, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err == nil || took < slow {
		delete(s.until, cluster)
		return
	}
	maps.DeleteFunc(s.until, func(_ types.UID, until time.Time) bool { return now.Sub(until) > time.Hour }) // of clusters that are gone
	if s.until == nil {
		s.until = map[types.UID]time.Time{}
	}
	s.until[cluster] = now.Add(askAgain)
}
