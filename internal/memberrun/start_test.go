package memberrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

func newPermit(attempt int) *member.Permit {
	return &member.Permit{
		Mode: member.ModeNew, ClusterID: testIdentity.ClusterID, MemberID: testIdentity.MemberID,
		InitialCluster: "a=http://a:2380", Token: "t", PodUID: "pod", Attempt: attempt,
	}
}

func TestAdmitOnNothing(t *testing.T) {
	data, run := filepath.Join(t.TempDir(), "data"), t.TempDir()
	write(t, filepath.Join(data, "member", "snap", "db"), "left by a failed start")
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	start, empty, err := admit(data, run, "pod", newPermit(1), false)
	if err != nil || start.State != member.StateNew || !empty {
		t.Fatalf("admit = %+v, %t, %v", start, empty, err)
	}
	if err := errors.Join(own(data), useUp(data, run, 1)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("the data directory holds %v, %v", left, err)
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory is %v, %v", info, err)
	}

	// The permit is used up now, and a second one is not.
	refusal := &member.Refusal{}
	if start, _, err := admit(data, run, "pod", newPermit(1), false); !errors.As(err, &refusal) || refusal.Attempt != 1 {
		t.Errorf("a second admit = %+v, %v, want a refusal of attempt 1", start, err)
	}
	if _, _, err := admit(data, run, "pod", newPermit(2), false); err != nil {
		t.Errorf("admit with another permit: %v", err)
	}
}

// TestAdmitKeeps holds that nothing is removed and no permit used up unless etcd may start from nothing.
func TestAdmitKeeps(t *testing.T) {
	ours, _ := newLog(t, 3)
	foreign, _ := newLog(t, 3)
	unreadable, segments := newLog(t, 3)
	damage(t, segments[0], 16)
	nothing := t.TempDir()
	write(t, filepath.Join(nothing, "member", "snap", "db"), "x")
	resume, stranger := newPermit(1), newPermit(1)
	resume.Mode, stranger.MemberID = member.ModeResume, 0x18
	for name, c := range map[string]struct {
		data   string
		permit *member.Permit
		reason string
	}{
		"ours":       {ours, newPermit(1), ""},
		"foreign":    {foreign, stranger, member.ForeignData},
		"unreadable": {unreadable, newPermit(1), member.Unreadable},
		"lost":       {nothing, resume, member.DataLost},
	} {
		t.Run(name, func(t *testing.T) {
			before, run := files(t, c.data), t.TempDir()
			_, _, err := admit(c.data, run, "pod", c.permit, false)
			refusal := &member.Refusal{}
			if errors.As(err, &refusal); refusal.Reason != c.reason {
				t.Errorf("admit: %v, want reason %q", err, c.reason)
			}
			if after := files(t, c.data); !slices.Equal(after, before) {
				t.Errorf("the data directory holds %v, want %v", after, before)
			}
			if used, err := readAttempt(run); used != 0 || err != nil {
				t.Errorf("attempt %d, %v is used up", used, err)
			}
		})
	}
}

// TestAdmitBrokenMarker holds that a permit is not used while no one can tell whether it has been.
func TestAdmitBrokenMarker(t *testing.T) {
	run := t.TempDir()
	write(t, filepath.Join(run, attemptFile), "")
	if start, _, err := admit(t.TempDir(), run, "pod", newPermit(1), false); err == nil {
		t.Errorf("admit = %+v, want an error", start)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		found = append(found, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAwaitPermit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "permit")
	ctx, cancel := context.WithCancel(t.Context())
	type answer struct {
		permit *member.Permit
		err    error
	}
	answers := make(chan answer, 1)
	wait := func() {
		permit, err := awaitPermit(ctx, path)
		answers <- answer{permit, err}
	}
	go wait()
	write(t, path, "") // what the kubelet writes while there is no annotation
	text, err := newPermit(3).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.err != nil || *got.permit != *newPermit(3) {
		t.Errorf("awaitPermit = %+v, %v", got.permit, got.err)
	}

	write(t, path, "no permit")
	if permit, err := awaitPermit(ctx, path); err == nil {
		t.Errorf("awaitPermit = %+v, want an error", permit)
	}

	write(t, path, "")
	go wait()
	cancel()
	if got := <-answers; !errors.Is(got.err, context.Canceled) {
		t.Errorf("awaitPermit = %+v, %v, want the context's end", got.permit, got.err)
	}
}

func TestListenHost(t *testing.T) {
	for ip, want := range map[string]string{
		"10.0.0.1": "0.0.0.0", "fd00::1": "[::]", "::ffff:10.0.0.1": "0.0.0.0", "": "0.0.0.0", "x": "0.0.0.0",
	} {
		if got := listenHost(ip); got != want {
			t.Errorf("listenHost(%q) = %s, want %s", ip, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ETCD_FORCE_NEW_CLUSTER", "true")
	t.Setenv("GOMEMLIMIT", "1GiB")
	for _, variable := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		t.Setenv(variable, "proxy.invalid")
		t.Setenv(strings.ToLower(variable), "proxy.invalid")
	}
	env := strings.Join(environment(), "\n")
	if strings.Contains(env, "ETCD_") || !strings.Contains(env, "GOMEMLIMIT=1GiB") {
		t.Errorf("environment:\n%s", env)
	}
	if strings.Contains(env, "proxy.invalid") {
		t.Error("etcd gets a proxy")
	}
}

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second over the first: an init container may run again
		if err := Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "member-run"))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the copy differs (%v)", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "member-run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the copy is %v, %v", info, err)
	}
	if left := files(t, dir); len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
}
