package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// pollInterval is short because a lab's start is many such waits in a row.
const pollInterval = 50 * time.Millisecond

// tailLines of a log are shown with an error about its component.
const tailLines = 15

// Poll calls ready until it returns nil. The error of a wait that ends without says what was still missing.
func Poll(ctx context.Context, ready func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// readyLimit is how long a component may take to answer. The slowest is the API server, which takes seconds on a busy machine.
const readyLimit = 3 * time.Minute

// errLate says that a component runs and does not answer.
var errLate = fmt.Errorf("it has run for %s and is not ready", readyLimit)

// WaitReady waits until a component answers, and fails early, with the end of its log, if it dies.
func (r Record) WaitReady(ctx context.Context, ready func(context.Context) error) error {
	ctx, stop := context.WithTimeoutCause(ctx, readyLimit, errLate)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := Poll(ctx, func(ctx context.Context) error {
		err := ready(ctx)
		if err != nil && !r.Alive() {
			cancel(ErrGone)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s did not become ready: %w%s", r.Name, err, LogTail(r.LogFile))
	}
	return nil
}

// Stop ends processes: it asks them all to terminate, and kills those that still run after the grace period or
// when the context ends.
func Stop(ctx context.Context, grace time.Duration, records ...Record) error {
	if err := signalAll(syscall.SIGTERM, records); err != nil {
		return err
	}
	graceful, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if waitGone(graceful, records) == nil {
		return nil
	}
	return Kill(ctx, records...)
}

// Kill ends processes at once and returns when they are gone.
func Kill(ctx context.Context, records ...Record) error {
	if err := signalAll(syscall.SIGKILL, records); err != nil {
		return err
	}
	return waitGone(ctx, records)
}

func signalAll(signal os.Signal, records []Record) error {
	for _, record := range records {
		if err := record.Signal(signal); err != nil && !errors.Is(err, ErrGone) {
			return err
		}
	}
	return nil
}

func waitGone(ctx context.Context, records []Record) error {
	return Poll(ctx, func(context.Context) error {
		for _, record := range records {
			if record.Alive() {
				return fmt.Errorf("%s (process %d) still runs", record.Name, record.PID)
			}
		}
		return nil
	})
}

// LogTail returns the end of a log in a form to append to an error, with the log's path.
func LogTail(file string) string {
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if err != nil {
		return fmt.Sprintf("\n(its log %s cannot be read: %v)", file, err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("\nits log %s ends with:\n  %s", file, strings.Join(lines, "\n  "))
}
