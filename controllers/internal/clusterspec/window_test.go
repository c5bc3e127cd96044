package clusterspec

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func window(schedule, zone string, stays time.Duration) *v1beta2.MaintenanceWindow {
	return &v1beta2.MaintenanceWindow{Schedule: schedule, TimeZone: zone, Duration: metav1.Duration{Duration: stays}}
}

// TestValidateWindow refuses what the schema cannot know, with the name of the field and what to write there.
func TestValidateWindow(t *testing.T) {
	const hour = time.Hour
	for want, given := range map[string]*v1beta2.MaintenanceWindow{
		`spec.maintenanceWindow.timeZone: "Europe/Berln" is no time zone: give one of the IANA database`:                          window("@daily", "Europe/Berln", hour),
		`spec.maintenanceWindow.schedule "0 0 30 2 *": there is no such day`:                                                      window("0 0 30 2 *", "", hour),
		`spec.maintenanceWindow.schedule "0 99 * * *": `:                                                                          window("0 99 * * *", "", hour),
		`spec.maintenanceWindow.schedule "@every 1h" has no time of day: give the five fields`:                                    window("@every 1h", "", hour),
		`spec.maintenanceWindow.duration: a window may be open for 168h at most; without maintenanceWindow nothing waits for one`: window("@daily", "", 169*time.Hour),
		`spec.maintenanceWindow.duration: a window must be open for 10m at least`:                                                 window("@daily", "", time.Minute),
	} {
		problem := validate(&v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{MaintenanceWindow: given}})
		if problem == nil || problem.Reason != v1beta2.ReasonInvalidWindow || !strings.Contains(problem.Message, want) {
			t.Errorf("%+v: %v, want %q", given, problem, want)
		}
	}
	if problem := validate(&v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{MaintenanceWindow: window("0 2 * * 0", "Europe/Berlin", hour)}}); problem != nil {
		t.Error(problem)
	}
}

// TestAutopilotIsTheUsers wants whoever stops Auto Pilot, or moves its window, to be heard although something else in the spec is wrong.
func TestAutopilotIsTheUsers(t *testing.T) {
	off := &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	noted := v1beta2.InternalStatus{AcceptedSpec: &runtime.RawExtension{
		Raw: []byte(`{"size":3,"version":"3.6.16","maintenanceWindow":{"schedule":"@daily","duration":"1h"}}`),
	}}
	for title, c := range map[string]struct {
		given *v1beta2.MaintenanceWindow
		want  string
	}{
		"one that can be read": {window("@weekly", "", time.Hour), "@weekly"},
		"one that cannot":      {window("never", "", time.Hour), "@daily"},
		"none":                 {nil, ""},
	} {
		spec := v1beta2.EtcdClusterSpec{Size: 3, Version: "3.4.1", Autopilot: off, MaintenanceWindow: c.given}
		got, problem := Effective(&v1beta2.EtcdCluster{Spec: spec, Status: v1beta2.EtcdClusterStatus{InternalStatus: noted}}, nil)
		if problem == nil || got.Version != "3.6.16" || got.Autopilot == nil || got.Autopilot.Mode != v1beta2.AutopilotOff {
			t.Errorf("%s: %+v (%v)", title, got, problem)
		}
		if opens := got.MaintenanceWindow; (opens == nil) != (c.want == "") || opens != nil && opens.Schedule != c.want {
			t.Errorf("%s: the window is %+v, want %q", title, opens, c.want)
		}
	}
}

// TestRecoveryIsTheUsers wants whoever says where a recovery is kept, or that it is to wait for them, to be heard although something else in
// the spec is wrong.
func TestRecoveryIsTheUsers(t *testing.T) {
	noted := v1beta2.InternalStatus{AcceptedSpec: &runtime.RawExtension{
		Raw: []byte(`{"size":3,"version":"3.6.16","recovery":{"backup":{"name":"other"}}}`),
	}}
	named := &v1beta2.RecoverySpec{Backup: &v1beta2.EtcdBackupRef{Name: "nightly"}}
	for _, given := range []*v1beta2.RecoverySpec{named, nil} {
		spec := v1beta2.EtcdClusterSpec{Size: 3, Version: "3.4.1", Recovery: given}
		got, problem := Effective(&v1beta2.EtcdCluster{Spec: spec, Status: v1beta2.EtcdClusterStatus{InternalStatus: noted}}, nil)
		if problem == nil || got.Version != "3.6.16" || got.Recovery != given {
			t.Errorf("%+v: %+v (%v)", given, got, problem)
		}
	}
}
