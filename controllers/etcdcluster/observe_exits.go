package etcdcluster

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// exitOf is why etcd does not run, and which attempt was refused because it had been used.
func exitOf(pod *corev1.Pod) (plan.Exit, int) {
	if refusal, ok := refusalOf(pod); ok {
		return plan.ExitOf(refusal), refusal.Attempt
	}
	switch log := endOf(pod).Message; {
	case lastWords(pod) == "":
		return plan.ExitNone, 0
	case strings.Contains(death(log), readOnly):
		return plan.ExitUnreadable, 0
	case corrupt(cause(log)):
		return plan.ExitCorrupt, 0
	}
	return plan.ExitNone, 0
}

// endOf is how the etcd container last terminated, empty while it is running.
func endOf(pod *corev1.Pod) corev1.ContainerStateTerminated {
	c := containerOf(pod)
	if c.State.Running != nil {
		return corev1.ContainerStateTerminated{}
	}
	for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
		if state.Terminated != nil {
			return *state.Terminated
		}
	}
	return corev1.ContainerStateTerminated{}
}

// refusalOf is the termination message of a member-run that did not start etcd, none while the container is running and after an
// exit of etcd itself.
func refusalOf(pod *corev1.Pod) (member.Refusal, bool) {
	return member.ParseRefusal(endOf(pod).Message)
}

// lastWords is why etcd is crash-looping, by the end of its log; empty if it is not.
func lastWords(pod *corev1.Pod) string {
	if w := containerOf(pod).State.Waiting; w == nil || w.Reason != "CrashLoopBackOff" {
		return ""
	}
	const enough = 300
	text := endOf(pod).Message
	text = cmp.Or(death(text), text)
	if len(text) > enough {
		text = text[len(text)-enough:]
	}
	switch {
	case text == "":
		return "no termination message; check the container log: kubectl logs " + pod.Name + " -c etcd --previous"
	case strings.Contains(text, " +0x"): // the end of a stack trace explains nothing
		return "it panicked; check the container log: kubectl logs " + pod.Name + " -c etcd --previous"
	}
	return text
}

// death is what etcd logged when it ended itself, or what the runtime said of a panic that etcd did not log; empty if neither is there.
func death(log string) string {
	if text := lastEntry(log); text != "" {
		return text
	}
	for _, line := range strings.Split(fromRuntime(log), "\n") {
		if strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return ""
}

// cause is all that says why etcd ended: its own entry, or the lines of the runtime. What etcd logged before may quote clients' keys.
func cause(log string) string { return cmp.Or(lastEntry(log), fromRuntime(log)) }

// lastEntry is what etcd logged when it ended itself.
func lastEntry(log string) string {
	for _, line := range slices.Backward(strings.Split(log, "\n")) {
		var entry struct {
			Level string `json:"level"`
			Msg   string `json:"msg"`
			Error string `json:"error"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && (entry.Level == "fatal" || entry.Level == "panic") {
			return strings.TrimSuffix(entry.Msg+": "+entry.Error, ": ")
		}
	}
	return ""
}

// fromRuntime are the lines that are no entries of etcd's, whole or cut off at the front, but of the Go runtime's.
func fromRuntime(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), "}") }), "\n")
}

// corruptions are the messages of etcd and bbolt for damaged data (errors and panics of their packages wal, snap, backend and bbolt,
// and raft's of a truncated log).
var corruptions = []string{
	"crc mismatch", "wal: slice bounds out of range", "wal: max entry size limit exceeded", "wal: conflicting metadata",
	"snap: corrupted snapshot file", "failed to recover v3 backend", "invalid database", "checksum error",
	"assertion failed", "already freed", "invalid freelist page", "invalid page", "unexpected fault address",
	"is out of range [lastIndex", "failed to open database", "file checksum",
	// The kubelet keeps the end of a long stack trace: the functions of bbolt that panicked.
	"go.etcd.io/bbolt.(", "/bbolt@",
}

// readOnly is what the kernel says of a file system that it has found errors in: it may pass, but rarely by itself. That the data
// directory cannot be accessed, as etcd puts it, has other reasons, too, such as the user that it runs as.
const readOnly = "read-only file system"

// shortages make etcd fail in the same places, and pass.
var shortages = []string{"no space left on device", "input/output error", "cannot allocate memory"}

func corrupt(log string) bool {
	holds := func(sign string) bool { return strings.Contains(log, sign) }
	return slices.ContainsFunc(corruptions, holds) && !slices.ContainsFunc(shortages, holds)
}
