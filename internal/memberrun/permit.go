package memberrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// pollPermit is how often the permit's file is read while it is empty. The kubelet replaces the file by renaming a
// folder above it, which is simpler to look at than to watch.
const pollPermit = 50 * time.Millisecond

// awaitPermit returns the permit as soon as there is one, or when ctx is cancelled.
func awaitPermit(ctx context.Context, path string) (*member.Permit, error) {
	ticker := time.NewTicker(pollPermit)
	defer ticker.Stop()
	logged := false
	for {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the permit: %w", err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return member.ParsePermit(string(text))
		}
		if !logged {
			slog.Info("waiting for the operator's permit to start etcd", "path", path)
			logged = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}
