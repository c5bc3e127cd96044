// Package failure describes why something cannot be done, in the form that conditions, events, metrics, the results of pods and
// errors have in common: a reason for programs, a message for people, and whether a retry may help.
package failure

import "errors"

// Problem is why something cannot be done.
type Problem struct {
	// Reason is one of those in api/v1beta2, in CamelCase.
	Reason string `json:"reason"`
	// Message says what is wrong and what to do. It holds no credentials.
	Message string `json:"message"`
	// Terminal is true if no retry can succeed before a user changes something. In JSON it keeps the name that earlier operators
	// gave it.
	Terminal bool `json:"lasting,omitempty"`
}

// Error is a Problem as an error.
type Error struct {
	Problem
	cause error
}

// New makes an error of a problem.
func New(p Problem) error { return &Error{Problem: p} }

// Because is New with a cause, nil if unknown. Errors.Is finds the cause, but its text is never shown: it may hold credentials.
func Because(cause error, p Problem) error { return &Error{Problem: p, cause: cause} }

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Is reports whether the target is among the causes.
func (e *Error) Is(target error) bool { return errors.Is(e.cause, target) }

// Of is the first problem in an error; ok is false if there is none. Its message is that of the whole error, with what was added
// where it was wrapped.
func Of(err error) (p Problem, ok bool) {
	var e *Error
	if !errors.As(err, &e) {
		return Problem{}, false
	}
	p = e.Problem
	p.Message = err.Error()
	return p, true
}
