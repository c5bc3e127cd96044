package member

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Setting is one option of etcd as a user has set it.
type Setting struct {
	// Field is where it was set, for messages: for example spec.etcd.electionTimeout.
	Field string
	// Flag is etcd's flag without its dashes, by a name that it has in any of etcd 3.5, 3.6 and 3.7.
	Flag string
	// Value is that of etcd's flag; an empty one means that it is not set.
	Value string

	// gate is true if Flag is a gate that was given in etcd's flag feature-gates.
	gate bool
}

// flagGates is etcd's flag for feature gates, from 3.6 on. In 3.5 options take their place.
const flagGates = "feature-gates"

// EnvSetting is an ETCD_* variable, as coreos/etcd-operator's pod.etcdEnv has them.
func EnvSetting(field, variable, value string) Setting {
	flag, ok := strings.CutPrefix(variable, "ETCD_")
	if !ok {
		return Setting{Field: field, Value: value}
	}
	return Setting{Field: field, Flag: strings.ReplaceAll(strings.ToLower(flag), "_", "-"), Value: value}
}

// Translate converts settings to options for Config. The problems name the field, the reason and the fix; the translation is
// valid if there are none. An option that the given etcd version lacks is a problem, unless the version is empty.
func Translate(settings []Setting, version string) (translated map[string]string, problems []string) {
	settings = separate(settings)
	slices.SortStableFunc(settings, func(a, b Setting) int { return cmp.Compare(a.Field, b.Field) })
	given := choices{}
	for _, s := range settings {
		name, problem := s.option()
		if problem == "" && s.Value == "" {
			continue
		}
		if problem == "" {
			problem = problemOf(name, s, given, version)
		}
		if problem != "" {
			problems = append(problems, s.Field+" "+problem)
			continue
		}
		given[name] = s
	}
	if len(problems) == 0 {
		problems = given.together()
	}
	translated = map[string]string{}
	for name, s := range given {
		translated[name] = s.Value
	}
	return translated, problems
}

// separate splits etcd's flag feature-gates, A=true,B=false, into a setting for each feature gate.
func separate(settings []Setting) []Setting {
	var all []Setting
	for _, s := range settings {
		if s.Flag != flagGates || s.Value == "" {
			all = append(all, s)
			continue
		}
		for one := range strings.SplitSeq(s.Value, ",") {
			gate, value, _ := strings.Cut(strings.TrimSpace(one), "=")
			all = append(all, Setting{Field: s.Field, Flag: gate, Value: value, gate: true})
		}
	}
	return all
}

func problemOf(name string, s Setting, given choices, version string) string {
	if first, twice := given[name]; twice {
		return "is given twice, also as " + first.Field + ": remove one"
	}
	if _, err := options[name].parse(s.Value); err != nil {
		return "cannot be used: " + err.Error()
	}
	if minor, err := minorOf(version); err == nil && minor < options[name].since {
		return fmt.Sprintf("is an option that etcd %s does not have (%s is new in 3.%d): remove it",
			version, s.Flag, options[name].since)
	}
	return ""
}

// owned are the prefixes of options that the operator sets itself.
var owned = []string{
	"name", "data-dir", "wal-dir", "listen-", "initial-advertise", "advertise-", "initial-cluster", "cert-", "key-",
	"client-", "peer-", "trusted-", "auto-tls", "cipher-", "tls-", "strict-reconfig-check", "max-learners", "discovery",
	"proxy", "log-outputs", "logger", "config-file", "self-signed", "auth-token",
}

// hints say what to do instead, for options that are common in old manifests.
var hints = map[string]string{
	"force-new-cluster":  "puts data at risk: remove it, and restore a backup instead",
	"unsafe-no-fsync":    "puts data at risk: remove it",
	"debug":              "was removed from etcd: set the log level to debug",
	"log-package-levels": "was removed from etcd: set the log level",
	"enable-v2":          "was removed in etcd 3.6: remove it",
	"memory-mlock":       "locks more memory than a member's pod may: remove it",
}

// option is the name of the option that a setting sets, empty if it sets none, or what is wrong with it.
func (s Setting) option() (name, problem string) {
	switch {
	case s.Flag == flagGates:
		return "", ""
	case !s.gate:
		return optionName(s.Flag)
	case s.Value == "":
		return "", fmt.Sprintf("names the feature gate %q without a value: set true or false, as in %s=true", s.Flag, s.Flag)
	}
	for name, o := range options {
		if o.gate == s.Flag {
			return name, ""
		}
	}
	return "", fmt.Sprintf("has the feature gate %q, which this operator does not support: remove it", s.Flag)
}

// optionName returns the option that a flag stands for, or what is wrong with it.
func optionName(flag string) (name, problem string) {
	name, experimental := strings.CutPrefix(flag, "experimental-")
	if flag == "" {
		return "", "is not one of etcd's variables (ETCD_…): remove it"
	}
	// What became a feature gate is a flag only by its old name.
	if o, known := options[name]; known && (!experimental || o.old != "") &&
		(experimental || o.gate == "" || o.gate == name) {
		return name, ""
	}
	if hint, ok := hints[name]; ok {
		return "", hint
	}
	if slices.ContainsFunc(owned, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return "", "is set by the operator itself: remove it"
	}
	return "", "is not an option that this operator supports: remove it"
}
