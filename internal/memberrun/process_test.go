package memberrun

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// The names under which the test binary is started again, and what it is told then.
const (
	asMemberRun = "member-run"
	asEtcd      = "etcd"
	envDir      = "TEST_MEMBER_DIR"
	envPorts    = "TEST_MEMBER_PORTS"
)

// patience is for machines that have other things to do.
const patience = 2 * time.Minute

// TestMain lets this binary be member-run and the real etcd too, so that the tests start both as a pod does.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case asMemberRun:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := Start(ctx, pathsIn(os.Getenv(envDir)))
		if stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case asEtcd:
		if slices.ContainsFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "ETCD_") }) {
			panic("etcd has variables of its own")
		}
		etcdmain.Main(movePorts(os.Args))
	default:
		os.Exit(m.Run())
	}
}

func pathsIn(dir string) Paths {
	return Paths{
		Permit:       filepath.Join(dir, "permit"),
		State:        filepath.Join(dir, "run"),
		Termination:  filepath.Join(dir, "termination-log"),
		Certificates: filepath.Join(dir, "certificates"),
		Trust:        filepath.Join(dir, "trust"),
	}
}

// movePorts changes what the configuration listens on, and where its certificates are: members in tests have no network and no root
// of their own.
func movePorts(args []string) []string {
	path, ok := strings.CutPrefix(args[len(args)-1], "--config-file=")
	if !ok {
		return args
	}
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var pairs []string
	for i, address := range strings.Split(os.Getenv(envPorts), ",") {
		pairs = append(pairs, fmt.Sprintf("://0.0.0.0:%d\n", member.ClientPort+i), "://"+address+"\n")
	}
	paths := pathsIn(os.Getenv(envDir))
	pairs = append(pairs, member.CertificatesDir+"/", paths.Certificates+"/", member.TrustDir+"/", paths.Trust+"/")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(file))), 0o600); err != nil {
		panic(err)
	}
	return args
}

// pod is a pod with one etcd container, as far as member-run can tell.
type pod struct {
	t    *testing.T
	name string
	uid  string
	// dir lives as long as the pod, data as long as the volume.
	dir, data string
	// client, peer and metrics are addresses.
	client, peer, metrics string
	// options are etcd's.
	options   map[string]string
	transport member.Transport
	container *exec.Cmd
	ended     chan error
}

func newPod(t *testing.T, name string) *pod {
	t.Helper()
	p := &pod{
		t: t, name: name, uid: name + "-uid", dir: t.TempDir(), data: filepath.Join(t.TempDir(), "data"),
		client: freeAddress(t), peer: freeAddress(t), metrics: freeAddress(t),
		options: map[string]string{"heartbeat-interval": "50", "election-timeout": "500"},
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{asMemberRun, asEtcd} {
		if err := os.Symlink(self, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(p.dir, "run", "placeholder"), "")
	write(t, pathsIn(p.dir).Permit, "")
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens at once
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func (p *pod) log() string { return filepath.Join(p.dir, "stderr") }

// said is what the container has written since it was started.
func (p *pod) said() string {
	text, err := os.ReadFile(p.log())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// until looks until nothing is missing any more, and fails the test once patience is over, or the container has ended. What is seen of all members
// is waited for with a nil channel: no container is the one to watch.
func until(t *testing.T, ended <-chan error, look func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := look(ctx)
		if missing == nil {
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("the container ended: %v; before: %v", err, missing)
		case <-ctx.Done():
			t.Fatal(missing)
		case <-tick.C:
		}
	}
}

// says waits until the container has written that.
func (p *pod) says(words string) {
	p.t.Helper()
	until(p.t, p.ended, func(context.Context) error {
		if said := p.said(); !strings.Contains(said, words) {
			return fmt.Errorf("%s does not say %q:\n%s", p.name, words, said)
		}
		return nil
	})
}

// peerURL leads to this machine, without TLS not by an address for which Go leaves out a proxy on its own.
func (p *pod) peerURL() string {
	if p.transport.PeerTLS {
		return p.transport.PeerScheme() + "://" + p.peer
	}
	return p.transport.PeerScheme() + "://" + strings.Replace(p.peer, "127.0.0.1", "0.0.0.0", 1)
}

// run starts the container.
func (p *pod) run() {
	p.t.Helper()
	config, err := json.Marshal(member.Config{
		Name: p.name, PeerURL: p.peerURL(), ClientURL: p.transport.ClientScheme() + "://" + p.client, DataDir: p.data,
		Options: p.options, Transport: p.transport,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	write(p.t, pathsIn(p.dir).Termination, "")
	stderr, err := os.Create(p.log())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	p.ended = make(chan error, 1)
	p.container = exec.CommandContext(p.t.Context(), filepath.Join(p.dir, asMemberRun))
	p.container.Stderr = stderr
	p.container.Env = []string{
		"PATH=" + p.dir, envDir + "=" + p.dir, envPorts + "=" + p.client + "," + p.peer + "," + p.metrics,
		member.EnvConfig + "=" + string(config), member.EnvPodUID + "=" + p.uid, member.EnvPodIP + "=127.0.0.1",
		// Neither may reach etcd: an image, or a webhook that edits pods, can set them. Nothing listens at that proxy.
		"ETCD_FORCE_NEW_CLUSTER=true", "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1",
	}
	if err := p.container.Start(); err != nil {
		p.t.Fatal(err)
	}
	container, ended := p.container, p.ended
	go func() { ended <- container.Wait() }()
	p.t.Cleanup(func() { _ = container.Process.Kill() })
}

// permit writes the permit as the kubelet would.
func (p *pod) permit(permit member.Permit) {
	p.t.Helper()
	text, err := permit.Encode()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := writeFile(pathsIn(p.dir).Permit, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// end waits until the container has ended, after a signal if there is one to send.
func (p *pod) end(signals ...os.Signal) error {
	p.t.Helper()
	for _, s := range signals {
		if err := p.container.Process.Signal(s); err != nil {
			p.t.Fatal(err)
		}
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(patience):
		p.t.Fatalf("the container of %s goes on:\n%s", p.name, p.said())
		return nil
	}
}

// refused waits until the container has ended with that refusal.
func (p *pod) refused(reason string, attempt int) {
	p.t.Helper()
	err := p.end()
	text, readErr := os.ReadFile(pathsIn(p.dir).Termination)
	if readErr != nil {
		p.t.Fatal(readErr)
	}
	refusal, ok := member.ParseRefusal(string(text))
	if err == nil || !ok || refusal.Reason != reason || refusal.Attempt != attempt {
		p.t.Fatalf("%s ended with %v and %q, want a refusal %s of attempt %d:\n%s",
			p.name, err, text, reason, attempt, p.said())
	}
}

// serves waits until etcd says that it does.
func (p *pod) serves(path string) {
	p.t.Helper()
	until(p.t, p.ended, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+path, http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("%s does not serve %s: %w\n%s", p.name, path, err, p.said())
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s with %s:\n%s", p.name, path, response.Status, p.said())
		}
		return nil
	})
}

func (p *pod) etcd() *clientv3.Client {
	p.t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{p.client}, Context: p.t.Context(), Logger: zap.NewNop(),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = client.Close() })
	return client
}
