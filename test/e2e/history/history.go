package history

import "sync"

// Kind is what an operation does.
type Kind string

// Kinds of operations.
const (
	// Put writes Value.
	Put Kind = "put"
	// Get reads.
	Get Kind = "get"
	// Swap writes Value if the register holds Old, and reads it if not.
	Swap Kind = "swap"
)

// Operation is one operation on one register. Every write of a history has a value of its own, above zero; a register
// that was never written reads as zero.
type Operation struct {
	// Worker and Register are counted from zero. A worker does one operation at a time.
	Worker   int  `json:"w"`
	Register int  `json:"r"`
	Kind     Kind `json:"k"`
	// Value is what is written, Old what a Swap expects.
	Value int64 `json:"v,omitempty"`
	Old   int64 `json:"o,omitempty"`
	// Seen is what a Get, or a Swap that did not swap, has read.
	Seen int64 `json:"s,omitempty"`
	// Swapped says that a Swap wrote.
	Swapped bool `json:"x,omitempty"`
	// Call and Return are nanoseconds on the client's monotonic clock. Return is 0 where no one knows what became of
	// the operation: it failed, timed out or has not ended.
	Call   int64 `json:"c"`
	Return int64 `json:"t,omitempty"`
}

// History is what a client tells.
type History struct {
	Operations []Operation `json:"operations"`
	// Full says that operations after these were not recorded, for want of space.
	Full bool `json:"full,omitempty"`
}

// Recorder collects a history in bounded memory. Its methods may be called from several goroutines.
type Recorder struct {
	mu         sync.Mutex
	operations []Operation
	full       bool
	limit      int
}

// NewRecorder makes a recorder of at most so many operations.
func NewRecorder(limit int) *Recorder { return &Recorder{limit: limit} }

// Begin records that an operation starts, and returns its place, which is -1 when the recorder is full. It is to be
// called before the operation is sent: what was not yet recorded could have been seen already by others.
func (r *Recorder) Begin(o Operation) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.operations) == r.limit {
		r.full = true
		return -1
	}
	r.operations = append(r.operations, o)
	return len(r.operations) - 1
}

// End records the outcome of the operation at a place. An operation without one stays unknown.
func (r *Recorder) End(place int, o Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if place >= 0 {
		r.operations[place] = o
	}
}

// History returns a copy of what was recorded, with operations under way as unknown.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return History{Operations: append([]Operation{}, r.operations...), Full: r.full}
}
