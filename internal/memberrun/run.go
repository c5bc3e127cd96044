package memberrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// pollPermit is how often the permit's file is read while it is empty: the kubelet replaces it by a rename of its
// folder, which is cheaper to look at than to watch.
const pollPermit = 50 * time.Millisecond

// Paths are where things are in the container.
type Paths struct {
	// Permit is the file with the permit, Run the folder that lives as long as the pod, Termination the file for the
	// container's last words.
	Permit, Run, Termination string
}

// ContainerPaths are those of a member's pod.
var ContainerPaths = Paths{
	Permit:      filepath.Join(member.PermitDir, member.PermitFile),
	Run:         member.RunDir,
	Termination: "/dev/termination-log",
}

// Start waits for a permit and replaces this process by etcd. It returns only if etcd did not start; a refusal is
// written to the termination message as well.
func Start(ctx context.Context, paths Paths) error {
	command, err := prepare(ctx, paths)
	if err == nil {
		slog.Info("starting etcd", "command", command)
		err = syscall.Exec(command[0], command, environment()) //nolint:gosec // etcd, from the image's own path
	}
	if ctx.Err() != nil {
		return nil // told to end while waiting: nothing went wrong
	}
	refusal := &member.Refusal{}
	if !errors.As(err, &refusal) {
		refusal = &member.Refusal{Reason: member.BadConfig, Message: err.Error()}
	}
	words, jsonErr := json.Marshal(refusal)
	if jsonErr != nil {
		return errors.Join(err, jsonErr)
	}
	return errors.Join(refusal, os.WriteFile(paths.Termination, words, 0o600))
}

// prepare decides how etcd may start and leaves the file system ready for it.
func prepare(ctx context.Context, paths Paths) ([]string, error) {
	config := member.Config{}
	if err := json.Unmarshal([]byte(os.Getenv(member.EnvConfig)), &config); err != nil {
		return nil, fmt.Errorf("read %s: %w", member.EnvConfig, err)
	}
	binary, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("find etcd: %w", err)
	}
	version, err := etcdVersion(ctx, binary)
	if err != nil {
		return nil, err
	}
	permit, err := awaitPermit(ctx, paths.Permit)
	if err != nil {
		return nil, err
	}
	start, err := admit(config, permit, paths.Run)
	if err != nil {
		return nil, err
	}
	if start.InitialCluster == "" {
		start.InitialCluster = config.Name + "=" + config.PeerURL
	}
	start.ListenHost = listenHost(os.Getenv(member.EnvPodIP))
	file, err := member.Render(config, start, version)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(paths.Run, "etcd.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return nil, fmt.Errorf("write etcd's configuration: %w", err)
	}
	return []string{binary, "--config-file=" + path}, nil
}

// admit looks at the data, decides, and uses the permit up before etcd can write anything.
func admit(config member.Config, permit *member.Permit, runDir string) (member.Start, error) {
	data, err := walIdentity(config.DataDir)
	if err != nil {
		return member.Start{}, err
	}
	marker := filepath.Join(runDir, "attempt")
	used, err := readAttempt(marker)
	if err != nil {
		return member.Start{}, err
	}
	start, refusal := decide(situation{data: data, permit: permit, podUID: os.Getenv(member.EnvPodUID), used: used})
	if refusal != nil {
		return member.Start{}, refusal
	}
	if data == nil {
		if err := writeAttempt(marker, permit.Attempt); err != nil {
			return member.Start{}, err
		}
		// What is there without a log is what a failed join left.
		if err := os.RemoveAll(filepath.Join(config.DataDir, "member")); err != nil {
			return member.Start{}, fmt.Errorf("clear the data directory: %w", err)
		}
	}
	if err := os.MkdirAll(config.DataDir, 0o700); err != nil {
		return member.Start{}, fmt.Errorf("make the data directory: %w", err)
	}
	return start, nil
}

func awaitPermit(ctx context.Context, path string) (*member.Permit, error) {
	ticker := time.NewTicker(pollPermit)
	defer ticker.Stop()
	told := false
	for {
		text, err := os.ReadFile(path) //nolint:gosec // a path of our own
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read the permit: %w", err)
		}
		if len(text) > 0 {
			return member.ParsePermit(string(text))
		}
		if !told {
			slog.Info("waiting for a permit of the operator", "path", path)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

func readAttempt(path string) (int, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a path of our own
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the attempt: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the attempt: %w", err)
	}
	return n, nil
}

// writeAttempt reaches the disk before it returns: a permit that might be used twice is worse than one never used.
func writeAttempt(path string, attempt int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // a path of our own
	if err != nil {
		return fmt.Errorf("write the attempt: %w", err)
	}
	_, err = fmt.Fprint(file, attempt)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the attempt: %w", err)
	}
	return nil
}

var versionLine = regexp.MustCompile(`(?m)^etcd Version: (\S+)$`)

// etcdVersion asks the binary itself: the image may have been changed under the pod.
func etcdVersion(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "--version").Output() //nolint:gosec // etcd, from the image's own path
	if err != nil {
		return "", fmt.Errorf("ask etcd for its version: %w", err)
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("etcd's version is not in %q", out)
	}
	return string(match[1]), nil
}

func listenHost(podIP string) string {
	if ip := net.ParseIP(podIP); ip != nil && ip.To4() == nil {
		return "[::]"
	}
	return "0.0.0.0"
}

// environment leaves out every ETCD_ variable: some are read even beside a configuration file.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "ETCD_") {
			env = append(env, pair)
		}
	}
	return env
}

// Install copies this program into dir, from where containers of other images can run it.
func Install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	content, err := os.ReadFile(self) //nolint:gosec // this program
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	target := filepath.Join(dir, "member-run")
	if err := os.WriteFile(target+".new", content, 0o755); err != nil { //nolint:gosec // it is to be executed
		return fmt.Errorf("copy this program: %w", err)
	}
	return os.Rename(target+".new", target)
}
