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
		"freeze": func(addon string) error { return l.Addons().Freeze(t.Context(), addon) },
		"cut":    func(addon string) error { return l.Addons().Cut(t.Context(), addon, 0) },
		"fill":   func(addon string) error { return l.Addons().Fill(t.Context(), addon) },
		"seal":   func(addon string) error { return l.Addons().Seal(t.Context(), addon) },
	} {
		if err := fault(MinIO); !errors.Is(err, ErrNoAddon) {
			t.Errorf("%s: %v, want %v", name, err, ErrNoAddon)
		}
		if err := fault("swift"); err == nil || !strings.Contains(err.Error(), Azurite) {
			t.Errorf("%s of what is no addon: %v, want an error that lists them", name, err)
		}
	}
	if err := l.Addons().Stop(t.Context(), GCS); err != nil {
		t.Errorf("stopping what does not run: %v", err)
	}
	if err := l.Addons().Cut(t.Context(), MinIO, -1); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("a cut after -1 bytes: %v", err)
	}
	if _, err := l.Addons().Start(t.Context(), "swift", nil); err == nil || !strings.Contains(err.Error(), GCS) {
		t.Errorf("starting what is no addon: %v", err)
	}
	if _, err := os.Stat(l.state.Addon("swift")); err == nil {
		t.Error("a folder was made for it")
	}
}
