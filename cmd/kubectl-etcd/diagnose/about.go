package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// About is the beginning of the README.
func About(namespace, name, version string, now time.Time) string {
	return fmt.Sprintf(`EtcdCluster %s/%s, as kubectl etcd diagnose (%s) found it at %s.

It holds no Secrets. %s stands for what people have given that may be secret: values of environment
variables, arguments, etcd's extraArgs, annotations, passwords and parameters in URLs. Logs are as
programs wrote them but for that: look at them before you hand this on.`, namespace, name, version, now.UTC().Format(time.RFC3339), Redacted)
}

// namespaced finds the namespace of the object that a line of the operator's log is about.
var namespaced = regexp.MustCompile(`"namespace":\s*"([^"]*)"`)

// entry finds lines that are whole at their beginning: those of the operator begin as JSON does, or with the time, as its flags say.
var entry = regexp.MustCompile(`^(\{|\d{4}-\d\d-\d\dT\d\d:\d\d|\d+\.\d+(e\+\d+)?\t)`)

// Own leaves out of the operator's log what is about objects of other namespaces, and what does not say what it is about: lines that are cut at
// their beginning or end, as those of a log that was rotated are, and those of which only the one before says it.
func Own(log, namespace string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		found := namespaced.FindAllStringSubmatch(line, -1)
		mine := len(found) == 0
		for _, m := range found {
			mine = mine || m[1] == namespace
		}
		if mine && entry.MatchString(line) && strings.HasSuffix(line, "\n") {
			_, _ = b.WriteString(line)
		}
	}
	return b.String()
}
