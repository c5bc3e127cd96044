package failure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

var full = failure.Problem{Reason: "StorageFull", Message: "make room", Terminal: true}

// TestOf finds the outermost problem, and says what whoever wrapped it says.
func TestOf(t *testing.T) {
	inner := failure.New(failure.Problem{Reason: "Inner", Message: "inner"})
	for title, c := range map[string]struct {
		err  error
		want failure.Problem
		ok   bool
	}{
		"none":              {nil, failure.Problem{}, false},
		"another error":     {errors.New("make room"), failure.Problem{}, false},
		"itself":            {failure.New(full), full, true},
		"wrapped":           {fmt.Errorf("save: %w", failure.New(full)), failure.Problem{Reason: "StorageFull", Message: "save: make room", Terminal: true}, true},
		"among others":      {errors.Join(failure.New(full), errors.New("close")), failure.Problem{Reason: "StorageFull", Message: "make room\nclose", Terminal: true}, true},
		"caused by another": {failure.Because(inner, full), full, true},
	} {
		if got, ok := failure.Of(c.err); got != c.want || ok != c.ok {
			t.Errorf("%s: got %+v, %t", title, got, ok)
		}
	}
}

// TestCause lets a cause be asked for, and never be read.
func TestCause(t *testing.T) {
	secret := fmt.Errorf("GET https://storage/?signature=hidden: %w", context.Canceled)
	err := fmt.Errorf("save: %w", failure.Because(secret, full))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, secret) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the cause of %v is not found", err)
	}
	if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "hidden") {
		t.Errorf("the cause is in %s", text)
	}
	var own *failure.Error
	if !errors.As(err, &own) || errors.Unwrap(own) != nil {
		t.Errorf("the cause is handed out by %v", err)
	}
	if errors.Is(failure.New(full), context.Canceled) {
		t.Error("a problem without a cause has one")
	}
}
