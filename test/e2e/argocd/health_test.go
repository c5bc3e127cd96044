package argocd

import (
	"os"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// script is the one for a kind.
func script(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile("../../../config/argocd/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config corev1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		t.Fatal(err)
	}
	source := config.Data["resource.customizations.health.etcd.database.coreos.com_"+kind]
	if source == "" {
		t.Fatalf("there is no script for %s", kind)
	}
	return source
}

// health is what a script makes of an object in YAML.
func health(t *testing.T, kind, object string) (status, message string) {
	t.Helper()
	var fields any
	if err := yaml.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", value(l, fields))
	if err := l.DoString(script(t, kind)); err != nil {
		t.Fatal(err)
	}
	answer, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("it answers %v", l.Get(-1))
	}
	return answer.RawGetString("status").String(), answer.RawGetString("message").String()
}

// value is what Lua sees of JSON.
func value(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		list := l.NewTable()
		for _, one := range v {
			list.Append(value(l, one))
		}
		return list
	case map[string]any:
		table := l.NewTable()
		for key, one := range v {
			table.RawSetString(key, value(l, one))
		}
		return table
	}
	return lua.LNil
}

func TestHealth(t *testing.T) {
	conditions := func(status ...string) string {
		text := "conditions: ["
		for _, s := range status {
			kind, rest, _ := strings.Cut(s, "=")
			holds, reason, _ := strings.Cut(rest, " ")
			text += "{observedGeneration: 2, message: because, type: " + kind + ", status: '" + holds + "', reason: " + reason + "}, "
		}
		return text + "]"
	}
	cluster := func(spec, status string) string {
		return "metadata: {generation: 2}\nspec: {size: 3" + spec + "}\nstatus: {" + status + "}\n"
	}
	backup := func(spec, status string) string {
		return "metadata: {generation: 2}\nspec: {" + spec + "}\nstatus: {" + status + "}\n"
	}
	for title, c := range map[string]struct{ kind, object, want, message string }{
		"new":     {"EtcdCluster", "metadata: {generation: 1}\nspec: {size: 3}\n", "Progressing", "has yet to look"},
		"ready":   {"EtcdCluster", cluster("", conditions("Ready=True SpecReached", "Progressing=False SpecReached")), "Healthy", "SpecReached: because"},
		"working": {"EtcdCluster", cluster("", conditions("Ready=False Updating", "Progressing=True Updating")), "Progressing", "Updating: because"},
		"blocked": {
			"EtcdCluster", cluster("", conditions("Ready=False InvalidOption", "Progressing=False InvalidOption")), "Degraded", "InvalidOption: because",
		},
		"without a quorum": {
			"EtcdCluster", cluster("", "phase: Unavailable, "+conditions("Ready=False QuorumLost", "Progressing=True QuorumLost")), "Degraded", "QuorumLost",
		},
		"paused": {"EtcdCluster", cluster(", paused: true", conditions("Ready=False Paused")), "Suspended", "paused"},
		"hibernated": {
			"EtcdCluster", cluster(", hibernate: true", "hibernation: Hibernated, "+conditions("Ready=False Hibernated", "Progressing=False Hibernated")), "Suspended", "hibernate",
		},
		"waking": {
			"EtcdCluster", cluster("", "phase: Unavailable, hibernation: Waking, "+conditions("Ready=False Waking", "Progressing=True Waking")), "Progressing", "Waking",
		},
		"to hibernate": {"EtcdCluster", cluster(", hibernate: true", conditions("Ready=False Updating", "Progressing=True Updating")), "Progressing", "Updating"},
		"edited": {
			"EtcdCluster", strings.Replace(cluster("", conditions("Ready=True SpecReached")), "generation: 2}", "generation: 3}", 1), "Progressing", "has yet to look",
		},
		"new backup":     {"EtcdBackup", backup("", ""), "Progressing", "has yet to look"},
		"no backup yet":  {"EtcdBackup", backup("", conditions("Accepted=True Accepted", "BackedUp=Unknown NoBackupYet")), "Progressing", "NoBackupYet"},
		"nightly":        {"EtcdBackup", backup("schedule: '@daily'", conditions("Accepted=True Accepted", "BackedUp=Unknown NoBackupYet")), "Healthy", "NoBackupYet"},
		"hourly":         {"EtcdBackup", backup("backupPolicy: {intervalSeconds: 3600}", conditions("BackedUp=Unknown NoBackupYet")), "Healthy", "NoBackupYet"},
		"legacy hourly":  {"EtcdBackup", backup("backupPolicy: {backupIntervalInSecond: 3600}", conditions("BackedUp=Unknown NoBackupYet")), "Healthy", "NoBackupYet"},
		"backed up":      {"EtcdBackup", backup("", conditions("Accepted=True Accepted", "BackedUp=True BackedUp")), "Healthy", "BackedUp"},
		"failed":         {"EtcdBackup", backup("schedule: '@daily'", conditions("Accepted=True Accepted", "BackedUp=False StorageFull")), "Degraded", "StorageFull"},
		"not understood": {"EtcdBackup", backup("schedule: x", conditions("Accepted=False InvalidSchedule", "BackedUp=Unknown NoBackupYet")), "Degraded", "InvalidSchedule"},
		"asleep":         {"EtcdBackup", backup("schedule: '@daily'", conditions("Accepted=True Accepted", "Progressing=False Hibernated")), "Suspended", "because"},
		"suspended":      {"EtcdBackup", backup("suspend: true", conditions("BackedUp=True BackedUp")), "Suspended", "suspend"},
	} {
		status, message := health(t, c.kind, c.object)
		if status != c.want || !strings.Contains(message, c.message) {
			t.Errorf("%s: it is %s, %q; want %s, %q", title, status, message, c.want, c.message)
		}
	}
}
