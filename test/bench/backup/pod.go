package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

const (
	// limit is how long one task may take.
	limit = time.Hour
	// terminationLog is where a pod has the agent's Result.
	terminationLog = "/dev/termination-log"
	// memberFolder is where a restore puts a member's data.
	memberFolder = "/var/etcd/data"
)

// writer is the object that all backups are of.
var writer = task.Writer{
	Kind: "EtcdBackup", Namespace: "bench", Name: "bench", UID: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
}

// pod is the file system that an agent's container has.
type pod struct{ root string }

func newPod(root, agent string) (*pod, error) {
	p := &pod{root: root}
	for _, folder := range []string{
		task.CredentialsDir, task.StoreDir, task.ScratchDir, filepath.Dir(memberFolder), filepath.Dir(terminationLog),
	} {
		if err := os.MkdirAll(p.path(folder), 0o700); err != nil {
			return nil, err
		}
	}
	err := errors.Join(
		copyProgram(agent, p.path(task.Program)),
		os.WriteFile(p.path(task.CredentialsDir+"/access-key-id"), []byte(minioUser), 0o600),
		os.WriteFile(p.path(task.CredentialsDir+"/secret-access-key"), []byte(minioKey), 0o600),
	)
	return p, err
}

// path is where this machine has what is at a path in the pod.
func (p *pod) path(inside string) string { return filepath.Join(p.root, inside) }

// run is one task. It is an error if it fails, or warns.
func (p *pod) run(ctx context.Context, t task.Task) (task.Result, cost, error) {
	t.Writer, t.Timeout = writer, limit
	text, err := json.Marshal(t)
	if err != nil {
		return task.Result{}, cost{}, err
	}
	// The kubelet makes the file.
	if err := os.WriteFile(p.path(terminationLog), nil, 0o600); err != nil {
		return task.Result{}, cost{}, err
	}
	c, err := spend(ctx, program{
		root: p.root, path: task.Program, env: []string{task.EnvTask + "=" + string(text)},
	})
	if err != nil {
		return task.Result{}, c, err
	}
	words, err := os.ReadFile(p.path(terminationLog))
	if err != nil {
		return task.Result{}, c, err
	}
	result, ok := task.ParseResult(string(words), int32(c.exit)) //nolint:gosec // an exit code is a byte
	if !ok || result.Failure != nil || len(result.Warnings) > 0 {
		return result, c, fmt.Errorf("the agent ended with %d:\n%s", c.exit, c.output)
	}
	return result, c, nil
}

func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700) //nolint:gosec // a program must be executable
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
