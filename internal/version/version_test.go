package version

import (
	"os"
	"strings"
	"testing"
)

func TestSupported(t *testing.T) {
	for version, want := range map[string]string{
		"3.5.35":     "",
		"3.6.16":     "",
		"3.7.3":      "",
		"3.5.31":     "use 3.5.32 or later",
		"3.6.10":     "use 3.6.11 or later",
		"3.2.13":     "too old",
		"3.9.0":      "use one of 3.5.35, 3.6.16, 3.7.3",
		"4.0.0":      "not supported by this operator",
		"2.3.8":      "not supported by this operator",
		"latest":     "is not a version",
		"3.4":        "is no minor release that this operator supports: use one of 3.5, 3.6, 3.7,",
		"3.":         "is not a version",
		"3.7.0-rc.0": "",
	} {
		err := Supported(version)
		if want == "" && err != nil {
			t.Errorf("Supported(%q) = %v, want nil", version, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Supported(%q) = %v, want an error with %q", version, err, want)
		}
	}
}

// TestTested holds that what is called tested is what the tests run.
func TestTested(t *testing.T) {
	for _, v := range Tested {
		pins, err := os.ReadFile("../../hack/tools/etcd" + strings.ReplaceAll(Minor(v), ".", "") + "/go.mod")
		if err != nil {
			t.Fatal(err)
		}
		if want := "go.etcd.io/etcd/server/v3 v" + v; !strings.Contains(string(pins), want+" ") {
			t.Errorf("etcd %s is none that the tests run: its tool does not pin %s", v, want)
		}
		if err := Supported(v); err != nil {
			t.Error(err)
		}
	}
	if len(Tested) != len(floors) {
		t.Errorf("%d minor releases are supported and %d tested", len(floors), len(Tested))
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{"": DefaultEtcd, "v3.6.16": "3.6.16", "3.5.35": "3.5.35"} {
		if got := Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNewestPatch(t *testing.T) {
	for in, want := range map[string]string{
		"3.6": DefaultEtcd, "v3.6": DefaultEtcd, "3.5": "3.5.35", "3.4": "", "3": "", "": "", "3.6.16": "", "3.06": "", "latest": "",
	} {
		if got := Newest(in); got != want {
			t.Errorf("Newest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ asked, last, want string }{
		{"3.6", "", DefaultEtcd},
		{"3.6", "3.6.15", "3.6.15"},
		{"3.6", "v3.6.15", "v3.6.15"},
		{"v3.6", "3.6.99", "3.6.99"},
		{"3.7", "3.6.15", "3.7.3"},
		{"3.5", "3.6.15", "3.5.35"},
		{"3.6.11", "3.6.15", "3.6.11"},
		{"v3.6.11", "3.6.15", "v3.6.11"},
		{"3.4", "3.4.1", "3.4"},
	} {
		if got := Resolve(c.asked, c.last); got != c.want {
			t.Errorf("Resolve(%q, %q) = %q, want %q", c.asked, c.last, got, c.want)
		}
	}
}
