package ctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
)

// patience is how long etcdctl may take to end once it was told to.
const patience = 5 * time.Second

// interrupted is the code of a program that an interrupt has ended, as shells have it.
const interrupted = 130

// Exit says that etcdctl has failed, and has said why.
type Exit struct {
	// Code is what its process has ended with.
	Code int
}

// Error is for those who do not know this error.
func (e *Exit) Error() string { return fmt.Sprintf("etcdctl has ended with code %d", e.Code) }

// job is what etcdctl is to do.
type job struct {
	streams   genericiooptions.IOStreams
	endpoints []etcd.Endpoint
	// credentials are those to connect with, nil for plain text.
	credentials *reach.Credentials
	args        []string
	// program is where etcdctl is.
	program string
	dry     bool
}

// run has a process do it, and returns once it has ended, when no file with a key is left.
func (j *job) run(ctx context.Context) error {
	var members []string
	for _, e := range j.endpoints {
		members = append(members, e.Pod+" is "+e.Address)
	}
	output.Say(j.streams.ErrOut, "%s", strings.Join(members, ", "))
	if j.dry {
		output.Say(j.streams.Out, "Running etcdctl %s", strings.Join(j.args, " "))
		output.DryRun(j.streams.Out)
		return nil
	}
	folder, err := os.MkdirTemp("", "kubectl-etcd-*") // nobody else may read it
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	flags, err := j.flags(folder)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, j.program, append(flags, j.args...)...)
	cmd.Env = environment(os.Environ())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.streams.In, j.streams.Out, j.streams.ErrOut
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() < 0 && ctx.Err() != nil:
		return &Exit{Code: interrupted}
	case errors.As(err, &ended):
		return &Exit{Code: max(1, ended.ExitCode())}
	case ctx.Err() != nil: // it was told to end, and has done so
		return nil
	default:
		return err
	}
}

// flags are etcdctl's own, before those that it is given: of two, the later one counts.
func (j *job) flags(folder string) ([]string, error) {
	scheme := "http://"
	// The first connection through a tunnel takes longer than the two seconds that etcdctl waits.
	flags := []string{"--dial-timeout=10s"}
	if c := j.credentials; c != nil {
		scheme = "https://"
		for _, file := range []struct {
			flag    string
			content []byte
		}{{"cacert", c.CA}, {"cert", c.Certificate}, {"key", c.Key}} {
			path := filepath.Join(folder, file.flag)
			if err := os.WriteFile(path, file.content, 0o600); err != nil {
				return nil, err
			}
			flags = append(flags, "--"+file.flag+"="+path)
		}
	}
	var endpoints []string
	for _, e := range j.endpoints {
		endpoints = append(endpoints, scheme+e.Address)
	}
	return append(flags, "--endpoints="+strings.Join(endpoints, ",")), nil
}
