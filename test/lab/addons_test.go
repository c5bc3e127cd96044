package lab

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestFaultsOfAddonsThatDoNotRun(t *testing.T) {
	l := &Lab{state: stateDir(t)}
	for name, fault := range map[string]func(string) error{
		"freeze": func(addon string) error { return l.FreezeAddon(t.Context(), addon) },
		"cut":    func(addon string) error { return l.CutAddon(t.Context(), addon, 0) },
		"fill":   func(addon string) error { return l.FillAddon(t.Context(), addon) },
		"seal":   func(addon string) error { return l.SealAddon(t.Context(), addon) },
	} {
		if err := fault(MinIO); !errors.Is(err, ErrNoAddon) {
			t.Errorf("%s: %v, want %v", name, err, ErrNoAddon)
		}
		if err := fault("swift"); err == nil || !strings.Contains(err.Error(), Azurite) {
			t.Errorf("%s of what is no addon: %v, want an error that lists them", name, err)
		}
	}
	if err := l.StopAddon(t.Context(), GCS); err != nil {
		t.Errorf("stopping what does not run: %v", err)
	}
	if err := l.CutAddon(t.Context(), MinIO, -1); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("a cut after -1 bytes: %v", err)
	}
	if _, err := l.StartAddon(t.Context(), "swift", nil); err == nil || !strings.Contains(err.Error(), GCS) {
		t.Errorf("starting what is no addon: %v", err)
	}
	if _, err := os.Stat(l.state.Addon("swift")); err == nil {
		t.Error("a folder was made for it")
	}
}
