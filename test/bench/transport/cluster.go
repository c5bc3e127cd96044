package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

const (
	size = 3
	// patience is how long a cluster may take to start.
	patience = time.Minute
	// ticksPerSecond is the unit of the kernel's counts of processor time (USER_HZ).
	ticksPerSecond = 100
)

// cluster is one of three members on this machine.
type cluster struct {
	endpoints []string
	config    *tls.Config
	members   []*exec.Cmd
}

// start starts one with its data, logs and certificates in dir.
func start(ctx context.Context, etcd, dir string, secure bool) (*cluster, error) {
	c := &cluster{}
	transport := member.Transport{PeerTLS: secure, ClientTLS: secure}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if secure {
		var err error
		if c.config, err = issue(dir); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(ctx, 3*size)
	if err != nil {
		return nil, err
	}
	var initial []string
	for i := range size {
		initial = append(initial, fmt.Sprintf("m%d=%s://localhost:%d", i, transport.PeerScheme(), ports[3*i+1]))
	}
	for i := range size {
		c.endpoints = append(c.endpoints, fmt.Sprintf("%s://localhost:%d", transport.ClientScheme(), ports[3*i]))
		config := member.Config{
			Name: fmt.Sprintf("m%d", i), PeerURL: strings.SplitN(initial[i], "=", 2)[1], ClientURL: c.endpoints[i],
			DataDir: filepath.Join(dir, fmt.Sprintf("m%d", i)), Transport: transport,
		}
		if err := c.startMember(etcd, dir, config, strings.Join(initial, ","), ports[3*i:3*i+3]); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	return c, nil
}

// startMember starts etcd with the file that member-run would write, but for ports and folders.
func (c *cluster) startMember(etcd, dir string, config member.Config, initial string, ports []int) error {
	rendered, err := member.Render(config, member.Start{
		State: member.StateNew, InitialCluster: initial, Token: "bench", ListenHost: "127.0.0.1",
	}, version.DefaultEtcd)
	if err != nil {
		return err
	}
	var file map[string]any
	if err := yaml.Unmarshal(rendered, &file); err != nil {
		return err
	}
	file["log-level"] = "warn"
	rendered, err = yaml.Marshal(file)
	if err != nil {
		return err
	}
	own := []string{member.CertificatesDir, dir, member.TrustDir, dir}
	for i, port := range []int{member.ClientPort, member.PeerPort, member.MetricsPort} {
		own = append(own, fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", ports[i]))
	}
	path := config.DataDir + ".yaml"
	if err := os.WriteFile(path, []byte(strings.NewReplacer(own...).Replace(string(rendered))), 0o600); err != nil {
		return err
	}
	log, err := os.Create(config.DataDir + ".log")
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()               // etcd has its own handle
	cmd := exec.Command(etcd, "--config-file="+path) //nolint:noctx // it is told to end, and not killed
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	c.members = append(c.members, cmd)
	return nil
}

func (c *cluster) stop() error {
	var failed error
	for _, m := range c.members {
		_ = m.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	}
	for _, m := range c.members {
		if err := m.Wait(); err != nil && m.ProcessState.ExitCode() >= 0 { // etcd ends by the signal
			failed = errors.Join(failed, fmt.Errorf("etcd ended: %w", err))
		}
	}
	return failed
}

// clients connects each to one member.
func (c *cluster) clients(n int) ([]*clientv3.Client, error) {
	var all []*clientv3.Client
	for i := range n {
		client, err := c.client(i)
		if err != nil {
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

func (c *cluster) client(i int) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: c.endpoints[i%size : i%size+1], TLS: c.config, Logger: zap.NewNop()})
}

// await returns once every client has an answer.
func (c *cluster) await(ctx context.Context, clients []*clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, client := range clients {
		for {
			attempt, done := context.WithTimeout(ctx, time.Second)
			_, err := client.Get(attempt, "k")
			done()
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("wait until the cluster answers: %w", err)
			}
		}
	}
	return nil
}

// used is the processor time of all members.
func (c *cluster) used() (time.Duration, error) {
	var ticks int64
	for _, m := range c.members {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.Process.Pid))
		if err != nil {
			return 0, err
		}
		// The second field is the program's name in brackets; utime and stime are the 14th and the 15th.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, field := range fields[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// freePorts are ports that nobody listens on now.
func freePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all are taken until the last is found, so that none comes twice
		if address, ok := l.Addr().(*net.TCPAddr); ok {
			ports = append(ports, address.Port)
		}
	}
	return ports, nil
}
