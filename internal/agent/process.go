package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	_ "golang.org/x/crypto/x509roots/fallback" // the image has no authorities; those of a system or of SSL_CERT_FILE win

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// terminationFile is Kubernetes' default terminationMessagePath.
const terminationFile = "/dev/termination-log"

// Main is the process in the pod. It returns its exit code.
func Main() int {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	// As the container's first process it gets no default action for signals.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if _, err := memlimit.Set(); err != nil {
		slog.Warn("the container's memory limit is not known", "error", err)
	}
	return execute(ctx, os.Getenv(task.EnvTask), podDirs(), net.JoinHostPort("", strconv.Itoa(task.ProgressPort)), terminationFile)
}

// execute runs the task and writes the Result to the file.
func execute(ctx context.Context, text string, d Dirs, address, file string) (exitCode int) {
	p := &Tracker{}
	stop, err := serve(ctx, address, p)
	if err != nil {
		slog.Warn("progress is not served", "error", err)
	}
	defer stop()
	result := runText(ctx, text, d, p)
	if f := result.Failure; f != nil {
		slog.Error("task failed", "reason", f.Reason, "message", f.Message, "warnings", result.Warnings)
		exitCode = 1
	} else {
		slog.Info("task completed", "snapshot", result.Snapshot, "deleted", result.Deleted, "warnings", result.Warnings)
	}
	words, err := result.Encode()
	if err == nil {
		// The file exists already: the kubelet mounts it.
		err = os.WriteFile(file, words, 0o600)
	}
	if err != nil {
		slog.Error("cannot write the result", "error", err)
		return 1
	}
	return exitCode
}

// runText runs the task that is in the environment.
func runText(ctx context.Context, text string, d Dirs, p *Tracker) task.Result {
	t := task.Task{}
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return task.Result{Failure: &failure.Problem{
			Reason: v1beta2.ReasonSnapshotFailed, Terminal: true, Message: fmt.Sprintf("the task in %s is not valid JSON: %v", task.EnvTask, err),
		}}
	}
	slog.Info("task started", "writer", t.Writer, "url", t.Storage.URL, "timeout", t.Timeout)
	return Run(ctx, t, d, p)
}

// serve serves the progress until stop is called.
func serve(ctx context.Context, address string, p *Tracker) (stop func(), err error) {
	listen := net.ListenConfig{}
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return func() {}, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+task.ProgressPath, p)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			slog.Warn("progress is no longer served", "error", err)
		}
	}()
	return func() { _ = server.Close() }, nil
}
