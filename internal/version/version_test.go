package version

import (
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
		"3.9.0":      "not known",
		"4.0.0":      "not known",
		"2.3.8":      "not known",
		"latest":     "is not a version",
		"3.6":        "is not a version",
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

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{"": DefaultEtcd, "v3.6.16": "3.6.16", "3.5.35": "3.5.35"} {
		if got := Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
}
