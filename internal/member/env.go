package member

import (
	"maps"
	"slices"
	"strings"
)

// owned are the prefixes of options that the operator sets itself.
var owned = []string{
	"name", "data-dir", "wal-dir", "listen-", "initial-advertise", "advertise-", "initial-cluster", "cert-", "key-",
	"client-", "peer-", "trusted-", "auto-tls", "cipher-", "tls-", "strict-reconfig-check", "max-learners", "discovery",
	"proxy", "log-outputs", "logger", "config-file", "self-signed", "auth-token",
}

// hints say what to do instead, for options that many an old manifest has.
var hints = map[string]string{
	"force-new-cluster":  "would put data at risk: remove it, and restore a backup instead",
	"unsafe-no-fsync":    "would put data at risk: remove it",
	"feature-gates":      "is written by the operator: use the gate's ETCD_EXPERIMENTAL_… variable, if it has one",
	"debug":              "is gone from etcd: use ETCD_LOG_LEVEL=debug",
	"log-package-levels": "is gone from etcd: use ETCD_LOG_LEVEL",
	"enable-v2":          "is gone from etcd 3.6: remove it",
	"memory-mlock":       "would lock more memory than a member's pod may: remove it",
}

// OptionsFromEnv translates ETCD_* variables, as coreos/etcd-operator's pod.etcdEnv has them, into options. An empty
// value is none, as it is to etcd. The problems name the variable, the reason and the fix; there are none in a
// translation that can be used.
func OptionsFromEnv(env map[string]string) (translated map[string]string, problems []string) {
	translated = map[string]string{}
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		name, problem := optionName(variable)
		if problem == "" && env[variable] == "" {
			continue
		}
		if _, twice := translated[name]; twice {
			problem = "is given twice, with and without EXPERIMENTAL: remove one"
		}
		if problem == "" {
			if _, err := options[name].parse(env[variable]); err != nil {
				problem = "cannot be used: " + err.Error()
			}
		}
		if problem != "" {
			problems = append(problems, variable+" "+problem)
			continue
		}
		translated[name] = env[variable]
	}
	if len(problems) == 0 {
		if err := checkTogether(translated); err != nil {
			problems = []string{err.Error()}
		}
	}
	return translated, problems
}

// optionName returns the option that a variable stands for, or what is wrong with it.
func optionName(variable string) (name, problem string) {
	bare, ok := strings.CutPrefix(variable, "ETCD_")
	if !ok {
		return "", "is not one of etcd's variables (ETCD_…): remove it"
	}
	flag := strings.ReplaceAll(strings.ToLower(bare), "_", "-")
	name, experimental := strings.CutPrefix(flag, "experimental-")
	// A feature gate has a variable only by its old name.
	if o, known := options[name]; known && (!experimental || o.old != "") && (experimental || o.gate == "") {
		return name, ""
	}
	if hint, ok := hints[name]; ok {
		return "", hint
	}
	if slices.ContainsFunc(owned, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return "", "is set by the operator itself: remove it"
	}
	return "", "is not an option that etcd 3.5, 3.6 and 3.7 share: remove it"
}
