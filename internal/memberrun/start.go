package memberrun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Paths are where things are in the container.
type Paths struct {
	// Permit is the file with the permit, State the folder for what lives as long as the pod, Termination the file of the termination
	// message.
	Permit, State, Termination string
	// Certificates is the folder with the member's own certificates, Trust that with the authorities; unused without TLS.
	Certificates, Trust string
}

// ContainerPaths are those of a member's pod; the last is Kubernetes' default terminationMessagePath.
func ContainerPaths() Paths {
	return Paths{
		Permit:       filepath.Join(member.PermitDir, member.PermitFile),
		State:        member.StateDir,
		Termination:  "/dev/termination-log",
		Certificates: member.CertificatesDir,
		Trust:        member.TrustDir,
	}
}

// Start waits for a permit and replaces this process by etcd. It returns only if etcd did not start: nil if ctx was cancelled
// before, else a *member.Refusal, which is in the termination message as well.
func Start(ctx context.Context, paths Paths) error {
	command, err := prepare(ctx, paths)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // terminated while it waited: nothing went wrong
	}
	if err == nil {
		slog.Info("starting etcd", "command", command)
		err = syscall.Exec(command[0], command, environment())
	}
	refusal := &member.Refusal{}
	if !errors.As(err, &refusal) {
		refusal = &member.Refusal{Reason: member.BadConfig, Message: err.Error()}
	}
	words, err := refusal.Encode()
	if err == nil {
		// The file exists already: the kubelet mounts it.
		err = os.WriteFile(paths.Termination, words, 0o600)
	}
	return errors.Join(refusal, err)
}

// prepare decides how etcd may start, leaves the file system ready for it, and returns the command.
func prepare(ctx context.Context, paths Paths) ([]string, error) {
	config, err := member.ParseConfig(os.Getenv(member.EnvConfig))
	if err != nil {
		return nil, err
	}
	podUID := os.Getenv(member.EnvPodUID)
	if podUID == "" {
		return nil, fmt.Errorf("%s is not set", member.EnvPodUID)
	}
	binary, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("find etcd: %w", err)
	}
	version, err := etcdVersion(ctx, binary)
	if err != nil {
		return nil, err
	}
	// Before the permit as well: no one is made a member who could not start.
	certificates := certificates{paths, config}
	if err := certificates.check(); err != nil {
		return nil, err
	}
	permit, start, empty, err := awaitStart(ctx, certificates, podUID)
	if err != nil {
		return nil, err
	}
	if err := certificates.check(); err != nil {
		return nil, err
	}
	start.ListenHost = listenHost(os.Getenv(member.EnvPodIP))
	file, err := member.Render(*config, start, version)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(paths.State, "etcd.yaml")
	if err := writeFile(path, file, 0o600); err != nil {
		return nil, fmt.Errorf("write etcd's configuration: %w", err)
	}
	if err := readyData(config.DataDir, paths.State, permit.Attempt, empty); err != nil {
		return nil, err
	}
	slog.Info("starting etcd", "version", version, "state", start.State, "initialCluster", start.InitialCluster,
		"clusterID", permit.ClusterID, "memberID", permit.MemberID, "permit", permit.Mode, "attempt", permit.Attempt)
	return []string{binary, "--config-file=" + path}, nil
}

// beginPatience is how long an initial member asks the others whether it has been started, if it cannot be known. The first start of all needs
// none of it: where nobody listens yet that is known.
const beginPatience = 10 * time.Second

// awaitStart waits until etcd may start, and until a learner can join. The permit is read each time anew: the operator rewrites it when
// the list of members changes.
func awaitStart(ctx context.Context, c certificates, podUID string) (*member.Permit, member.Start, bool, error) {
	peers, err := c.peerClient()
	if err != nil {
		return nil, member.Start{}, false, err
	}
	var waiting waiting
	patient, started := time.Now().Add(beginPatience), false
	for {
		permit, err := awaitPermit(ctx, c.paths.Permit)
		if err != nil {
			return nil, member.Start{}, false, err
		}
		start, empty, err := admit(c.config.DataDir, c.paths.State, podUID, permit, started)
		if err != nil || !empty {
			return permit, start, empty, err
		}
		ask := joinable
		if start.State == member.StateNew {
			ask = beginnable
		}
		why := ask(ctx, peers, c.config.Name, permit)
		if started = errors.Is(why, errStarted); started {
			continue
		}
		if why == nil || start.State == member.StateNew && time.Now().After(patient) {
			return permit, start, empty, nil
		}
		if err := c.check(); err != nil {
			return nil, member.Start{}, false, err
		}
		if err := waiting.pause(ctx, why); err != nil {
			return nil, member.Start{}, false, err
		}
	}
}

// admit decides by the data, and by whether others list the member as started. Empty is true if there is no data, so that the permit has to be used up.
func admit(dataDir, stateDir, podUID string, permit *member.Permit, started bool) (start member.Start, empty bool, err error) {
	data, err := readIdentity(dataDir)
	if err != nil {
		return member.Start{}, false, &member.Refusal{Reason: member.Unreadable, Message: err.Error()}
	}
	used, err := readAttempt(stateDir)
	if err != nil {
		return member.Start{}, false, err
	}
	start, refusal := member.Admit(member.Situation{Data: data, Permit: permit, PodUID: podUID, Used: used, Started: started})
	if refusal != nil {
		return member.Start{}, false, refusal
	}
	return start, data == nil, nil
}

// readyData makes the data directory fit for etcd; an empty one takes up the permit.
func readyData(dataDir, stateDir string, attempt int, empty bool) error {
	if err := own(dataDir); err != nil || !empty {
		return err
	}
	if err := tryWrite(dataDir); err != nil {
		return err
	}
	return useUp(dataDir, stateDir, attempt)
}

// useUp uses up the permit before etcd can write anything, and after everything else that may prevent the start: a configuration
// error is reported at every start, and once it is fixed the pod starts.
func useUp(dataDir, stateDir string, attempt int) error {
	if err := writeAttempt(stateDir, attempt); err != nil {
		return err
	}
	return empty(dataDir)
}

var versionLine = regexp.MustCompile(`(?m)^etcd Version: (\S+)$`)

// etcdVersion asks the binary itself: the image may have been changed in place.
func etcdVersion(ctx context.Context, binary string) (string, error) {
	command := exec.CommandContext(ctx, binary, "--version")
	command.Env = environment()
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("ask etcd for its version: %w", err)
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("etcd's version is not in %q", out)
	}
	return string(match[1]), nil
}

// listenHost listens on every address of the pod. [::] takes IPv4 too, but not every node has IPv6.
func listenHost(podIP string) string {
	if ip, err := netip.ParseAddr(podIP); err == nil && ip.Unmap().Is6() {
		return "[::]"
	}
	return "0.0.0.0"
}

// environment is that of etcd. ETCD_ variables are left out because some are read even with a configuration file, and those of a proxy
// because etcd would send its requests to other members through it.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "ETCD_") && !slices.Contains(proxies, strings.ToUpper(name)) {
			env = append(env, pair)
		}
	}
	return env
}

// proxies are the variables, in either case, by which programs are told of a proxy. An image may set them, or a webhook that edits pods.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
