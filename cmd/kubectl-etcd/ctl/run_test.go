package ctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
)

// standIn has the test's own program stand for etcdctl: it says what it was given, and does what the variable says.
const standIn = "KUBECTL_ETCD_STAND_IN"

func TestMain(m *testing.M) {
	switch os.Getenv(standIn) {
	case "":
		os.Exit(m.Run())
	case "fail":
		_, _ = fmt.Fprintln(os.Stderr, "Error: get command needs one argument")
		os.Exit(3)
	case "wait":
		interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		_, _ = fmt.Println("waiting")
		<-interrupted.Done()
		stop()
		os.Exit(4)
	}
	for _, arg := range os.Args[1:] {
		_, path, _ := strings.Cut(arg, "=")
		content, err := os.ReadFile(path)
		if err == nil {
			arg = strings.TrimSuffix(arg, path) + "file with " + string(content)
		}
		_, _ = fmt.Println(arg)
	}
}

// newJob runs the stand-in, and what it writes.
func newJob(t *testing.T, does string, args ...string) (*job, *strings.Builder, *strings.Builder) {
	t.Helper()
	t.Setenv(standIn, does)
	t.Setenv("TMPDIR", t.TempDir())
	var out, problems strings.Builder
	self, err := os.Executable()
	must(t, err)
	return &job{
		streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &problems}, args: args, program: self,
		endpoints:   []etcd.Endpoint{{Pod: "demo-0", Address: "127.0.0.1:1"}, {Pod: "demo-1", Address: "127.0.0.1:2"}},
		credentials: &reach.Credentials{Certificate: []byte("c"), Key: []byte("k"), CA: []byte("a")},
	}, &out, &problems
}

// TestRun gives etcdctl what it needs, and takes it away again.
func TestRun(t *testing.T) {
	j, out, problems := newJob(t, "speak", "get", "key", "-w", "json")
	must(t, j.run(t.Context()))
	want := "--dial-timeout=10s\n--cacert=file with a\n--cert=file with c\n--key=file with k\n" +
		"--endpoints=https://127.0.0.1:1,https://127.0.0.1:2\nget\nkey\n-w\njson\n"
	if out.String() != want || problems.String() != "demo-0 is 127.0.0.1:1, demo-1 is 127.0.0.1:2\n" {
		t.Errorf("it says %q, and on the side %q", out.String(), problems.String())
	}
	none(t)
	j.credentials, j.dry = nil, true
	out.Reset()
	must(t, j.run(t.Context()))
	if !strings.Contains(out.String(), "etcdctl get key -w json") || !strings.Contains(out.String(), "Nothing was changed") {
		t.Errorf("in a dry run it says %q", out.String())
	}
}

// TestFails ends as etcdctl does, which has said why.
func TestFails(t *testing.T) {
	j, _, problems := newJob(t, "fail", "get")
	var ended *Exit
	if err := j.run(t.Context()); !errors.As(err, &ended) || ended.Code != 3 || !strings.Contains(problems.String(), "get command needs") {
		t.Errorf("it ends with %v: %s", err, problems.String())
	}
	none(t)
}

// TestInterrupted ends what etcdctl does until it is told to end, such as a watch.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endsAsEtcdctl(ctx, t, cancel)
}

// endsAsEtcdctl ends etcdctl while it waits, and wants nothing to be left.
func endsAsEtcdctl(ctx context.Context, t *testing.T, end func()) {
	t.Helper()
	j, _, _ := newJob(t, "wait", "watch", "key")
	read, written, err := os.Pipe()
	must(t, err)
	j.streams.Out = written
	done := make(chan error, 1)
	go func() { done <- j.run(ctx) }()
	_, err = read.Read(make([]byte, 1)) // it is waiting
	must(t, err)
	end()
	var ended *Exit
	if err := <-done; !errors.As(err, &ended) || ended.Code != 4 {
		t.Errorf("it ends with %v, not as etcdctl", err)
	}
	none(t)
}

// TestSignals leaves no key behind, however the program is told to end.
func TestSignals(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	must(t, err)
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sent.String(), func(t *testing.T) {
			all := heeded(func(os.Signal) bool { return false }) // who runs the tests may ignore some, as nohup does
			if !slices.Contains(all, sent) {                     // sent all the same, it would end the tests
				t.Fatal("it is not waited for")
			}
			ctx, stop := signal.NotifyContext(t.Context(), all...)
			defer stop()
			endsAsEtcdctl(ctx, t, func() { must(t, self.Signal(sent)) })
		})
	}
	if slices.Contains(heeded(func(s os.Signal) bool { return s == syscall.SIGHUP }), os.Signal(syscall.SIGHUP)) {
		t.Error("with nohup, a terminal that is closed ends it")
	}
}

// none checks that nothing is left in the folder for temporary files.
func none(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("there is %s", left[0].Name())
	}
}

// TestFlags gives the key to nobody else.
func TestFlags(t *testing.T) {
	folder := t.TempDir()
	j := &job{credentials: &reach.Credentials{Certificate: []byte("c"), Key: []byte("k"), CA: []byte("a")}}
	_, err := j.flags(folder)
	must(t, err)
	info, err := os.Stat(filepath.Join(folder, "key"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file has the mode %o", info.Mode().Perm())
	}
}

// TestEnvironment leaves out what contradicts the flags, and nothing else.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "ETCDCTL_CERT=/x", "ETCDCTL_USER=root:x", "ETCDCTL_DISCOVERY_SRV=y", "etcdctl_key=z"})
	if !slices.Equal(got, []string{"PATH=/bin", "ETCDCTL_USER=root:x"}) {
		t.Errorf("it is %v", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
