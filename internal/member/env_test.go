package member

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ofEnv is what variables and their values stand for.
func ofEnv(env map[string]string) []Setting {
	var settings []Setting
	for variable, value := range env {
		settings = append(settings, EnvSetting(variable, variable, value))
	}
	return settings
}

func TestTranslate(t *testing.T) {
	settings := ofEnv(map[string]string{
		"ETCD_QUOTA_BACKEND_BYTES":                          "-1",
		"ETCD_AUTO_COMPACTION_RETENTION":                    "1",
		"ETCD_AUTO_COMPACTION_MODE":                         "periodic",
		"ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK":           "true",
		"ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT":          "500",
		"ETCD_WATCH_PROGRESS_NOTIFY_INTERVAL":               "5s",
		"ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT":         "true",
		"ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT_PERSIST": "true",
		"ETCD_LOG_LEVEL":                                    "warn",
		"ETCD_METRICS":                                      "",
	})
	settings = append(settings,
		Setting{Field: "spec.etcd.extraArgs", Flag: "feature-gates", Value: "FastLeaseKeepAlive=false, StopGRPCServiceOnDefrag=true"},
		Setting{Field: "spec.etcd.extraArgs", Flag: "experimental-corrupt-check-time", Value: "4h"},
	)
	got, problems := Translate(settings, "3.7.3")
	want := map[string]string{
		"quota-backend-bytes": "-1", "auto-compaction-retention": "1", "auto-compaction-mode": "periodic",
		"initial-corrupt-check": "true", "compaction-batch-limit": "500", "watch-progress-notify-interval": "5s",
		"enable-lease-checkpoint": "true", "enable-lease-checkpoint-persist": "true", "log-level": "warn",
		"FastLeaseKeepAlive": "false", "stop-grpc-service-on-defrag": "true", "corrupt-check-time": "4h",
	}
	if len(problems) > 0 || !maps.Equal(got, want) {
		t.Errorf("Translate = %v, %v, want %v", got, problems, want)
	}
}

func TestTranslateProblems(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"not etcd's":      {map[string]string{"GOGC": "50"}, "GOGC is not one of etcd's variables"},
		"the operator's":  {map[string]string{"ETCD_DATA_DIR": "/x"}, "ETCD_DATA_DIR is set by the operator itself"},
		"URLs":            {map[string]string{"ETCD_LISTEN_PEER_URLS": "x"}, "is set by the operator itself"},
		"TLS":             {map[string]string{"ETCD_PEER_CERT_FILE": "x"}, "is set by the operator itself"},
		"learners":        {map[string]string{"ETCD_MAX_LEARNERS": "3"}, "is set by the operator itself"},
		"auth token":      {map[string]string{"ETCD_AUTH_TOKEN": "jwt,a=b"}, "is set by the operator itself"},
		"dangerous":       {map[string]string{"ETCD_FORCE_NEW_CLUSTER": "true"}, "puts data at risk"},
		"not synced":      {map[string]string{"ETCD_UNSAFE_NO_FSYNC": "true"}, "puts data at risk"},
		"unknown gate":    {map[string]string{"ETCD_FEATURE_GATES": "X=true"}, `ETCD_FEATURE_GATES has the feature gate "X", which`},
		"no gate":         {map[string]string{"ETCD_FEATURE_GATES": "snapshot-count=5"}, `the feature gate "snapshot-count", which`},
		"gate alone":      {map[string]string{"ETCD_FEATURE_GATES": "CompactHashCheck"}, "as in CompactHashCheck=true"},
		"gate's value":    {map[string]string{"ETCD_FEATURE_GATES": "CompactHashCheck=1s"}, `"1s" is not true or false`},
		"later gate":      {map[string]string{"ETCD_FEATURE_GATES": "PriorityRequest=true"}, "(PriorityRequest is new in 3.7)"},
		"gate's new name": {map[string]string{"ETCD_INITIAL_CORRUPT_CHECK": "true"}, "is not an option"},
		"old":             {map[string]string{"ETCD_DEBUG": "true"}, "set the log level to debug"},
		"locked memory":   {map[string]string{"ETCD_EXPERIMENTAL_MEMORY_MLOCK": "true"}, "than a member's pod may"},
		"3.6 only": {
			map[string]string{"ETCD_LOG_FORMAT": "json"}, "that etcd 3.5.35 does not have (log-format is new in 3.6)",
		},
		"never was":       {map[string]string{"ETCD_EXPERIMENTAL_MAX_WALS": "3"}, "is not an option"},
		"misspelt, empty": {map[string]string{"ETCD_QUOTA": ""}, "ETCD_QUOTA is not an option"},
		"not a number":    {map[string]string{"ETCD_QUOTA_BACKEND_BYTES": "8Gi"}, `"8Gi" is not a whole number`},
		"negative":        {map[string]string{"ETCD_MAX_WALS": "-1"}, `"-1" is not a whole number from 0`},
		"not true":        {map[string]string{"ETCD_PRE_VOTE": "yes"}, `"yes" is not true or false`},
		"not a duration":  {map[string]string{"ETCD_CORRUPT_CHECK_TIME": "60"}, `"60" is not a duration`},
		"not a retention": {map[string]string{"ETCD_AUTO_COMPACTION_RETENTION": "-5m"}, "neither a whole number nor"},
		"not a choice":    {map[string]string{"ETCD_LOG_LEVEL": "loud"}, `"loud" is not one of debug, info`},
		"election":        {map[string]string{"ETCD_ELECTION_TIMEOUT": "400"}, "at least five times"},
		"heartbeat":       {map[string]string{"ETCD_HEARTBEAT_INTERVAL": "0"}, "at least 1"},
		"election limit":  {map[string]string{"ETCD_ELECTION_TIMEOUT": "50001"}, "at most 50000"},
		"hash check time": {map[string]string{"ETCD_COMPACT_HASH_CHECK_TIME": "0s"}, "such as 1m"},
		"persist, no check": {
			map[string]string{"ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT_PERSIST": "true"}, "needs the feature gate LeaseCheckpoint",
		},
		"revisions": {map[string]string{
			"ETCD_AUTO_COMPACTION_MODE": "revision", "ETCD_AUTO_COMPACTION_RETENTION": "1h",
		}, "set a number of revisions"},
		"not an origin": {map[string]string{"ETCD_CORS": "*,https://a.example"}, "such as https://example.com:443"},
		"twice": {map[string]string{
			"ETCD_CORRUPT_CHECK_TIME": "1h", "ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME": "2h",
		}, "ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME is given twice, also as ETCD_CORRUPT_CHECK_TIME"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Translate(ofEnv(c.env), "3.5.35")
			if len(problems) != 1 || !strings.Contains(problems[0], c.want) {
				t.Errorf("problems %q, want one with %q", problems, c.want)
			}
		})
	}
}

// TestTranslateForAVersion holds that what a version lacks is refused for that version only.
func TestTranslateForAVersion(t *testing.T) {
	for name, c := range map[string]struct {
		flag, value, version string
		fine                 bool
	}{
		"log-format":            {"log-format", "json", "3.6.16", true},
		"3.7's gate":            {"feature-gates", "FastLeaseKeepAlive=true", "3.6.16", false},
		"3.7's gate in 3.7":     {"feature-gates", "PriorityRequest=true", "3.7.3", true},
		"3.6's gate in 3.5":     {"feature-gates", "InitialCorruptCheck=true", "3.5.35", true},
		"unary requests in 3.5": {"warning-unary-request-duration", "1s", "3.5.35", false},
		"for no version":        {"feature-gates", "FastLeaseKeepAlive=true", "", true},
	} {
		_, problems := Translate([]Setting{{Field: "spec.etcd.x", Flag: c.flag, Value: c.value}}, c.version)
		if fine := len(problems) == 0; fine != c.fine {
			t.Errorf("%s: problems %q", name, problems)
		}
	}
}

// TestTranslateOrder matters because the problems go into a condition, which must not flap.
func TestTranslateOrder(t *testing.T) {
	_, problems := Translate(ofEnv(map[string]string{
		"ETCD_C": "1", "ETCD_A": "1", "ETCD_B": "1", "ETCD_NAME": "x",
	}), "")
	if len(problems) != 4 || !slices.IsSorted(problems) {
		t.Errorf("problems %q, want four in order", problems)
	}
}

// TestOptionsCanBeRendered holds every option to every version.
func TestOptionsCanBeRendered(t *testing.T) {
	samples := []string{"1s", "-1", "5", "true", "http://a:80", "array", "basic", "debug", "periodic", "json"}
	for name, o := range options {
		good := slices.IndexFunc(samples, func(s string) bool { _, err := o.parse(s); return err == nil })
		if good < 0 {
			t.Errorf("%s takes no value", name)
			continue
		}
		config := testConfig()
		config.Options = map[string]string{name: samples[good]}
		for version, want := range map[string]string{"3.5.35": o.old, "3.6.16": o.gate, "3.7.3": o.gate} {
			if want == "" {
				want = name
			}
			minor, _ := minorOf(version)
			file, err := Render(config, Start{State: StateExisting}, version)
			if err != nil || strings.Contains(string(file), want) != (minor >= o.since) {
				t.Errorf("%s for %s: %v, want %q in\n%s", name, version, err, want, file)
			}
		}
	}
}
