package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/etcdpilot/etcd-operator/test/bench/meter"
)

// operator is the program under test.
type operator struct {
	cmd     *exec.Cmd
	log     *os.File
	scraper *scraper
	options options
	// plane is what it works against, and address where it serves its metrics.
	plane   *plane
	address string
}

func startOperator(ctx context.Context, o options, p *plane) (*operator, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	op := &operator{options: o, plane: p, address: address}
	if op.scraper, err = newScraper(ctx, o.scrape > 0, address, p); err != nil {
		return nil, fmt.Errorf("prepare to read the operator's metrics: %w", err)
	}
	return op, op.start(ctx)
}

// restart ends the program and starts it anew, with more arguments.
func (op *operator) restart(ctx context.Context, args ...string) error {
	return errors.Join(op.stop(), op.start(ctx, args...))
}

func (op *operator) start(ctx context.Context, args ...string) (err error) {
	op.log, err = os.OpenFile(filepath.Join(op.plane.dir, "operator.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	o := op.options
	op.cmd = exec.Command(o.operator, slices.Concat([]string{ //nolint:noctx // it is told to end, and not killed
		"--kubeconfig", op.plane.kubeconfig, "--operator-image", "operator:simulated", "--pprof-bind-address", cmp.Or(o.pprof, "0"),
		"--metrics-bind-address", op.address, "--health-probe-bind-address", "0",
	}, op.scraper.arguments(), o.args, args)...)
	op.cmd.Stdout, op.cmd.Stderr = op.log, op.log
	if err := op.cmd.Start(); err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := op.read(ctx)
			return err == nil, nil
		})
	if err != nil {
		return errors.Join(fmt.Errorf("start the operator: %w", err), op.stop())
	}
	return nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (op *operator) stop() error {
	_ = op.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	err := op.cmd.Wait()
	if err != nil {
		text, _ := os.ReadFile(op.log.Name())
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		err = fmt.Errorf("the operator ended: %w\n%s", err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	return errors.Join(err, op.log.Close())
}

func (op *operator) read(ctx context.Context) (meter.Reading, error) {
	body, err := op.scraper.scrape(ctx)
	if err != nil {
		return meter.Reading{}, err
	}
	return meter.Parse(bytes.NewReader(body), time.Now())
}

// What the kernel tells of a process's resident memory: what there is now, and the most that there ever was.
const (
	resident = "VmRSS"
	peak     = "VmHWM"
)

// memory is what the kernel tells, in bytes.
func (op *operator) memory(what string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", op.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if _, err := fmt.Sscanf(line, what+": %d kB", &kib); err == nil {
			return kib << 10, nil
		}
	}
	return 0, errors.New("the kernel does not tell the operator's " + what)
}

// profile saves what the operator serves, where it does: a phase's name is the file's.
func (op *operator) profile(ctx context.Context, phase string) error {
	if op.options.pprof == "" {
		return nil
	}
	for kind, path := range map[string]string{"heap": "heap?gc=1", "cpu": "profile?seconds=20", "goroutine": "goroutine"} {
		body, err := get(ctx, http.DefaultClient, "http://"+op.options.pprof+"/debug/pprof/"+path, "")
		if err != nil {
			return err
		}
		name := filepath.Join(op.options.profiles, phase+"."+kind+".pprof")
		if err := os.WriteFile(name, body, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// get reads a page, as whom the token says unless it is empty.
func get(ctx context.Context, client *http.Client, url, token string) (body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}
