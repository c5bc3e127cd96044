package build

import (
	"bytes"
	"debug/elf"
	"runtime"
	"testing"
)

func TestBuildsForAnotherPlatform(t *testing.T) {
	var progress bytes.Buffer
	builder := &Builder{Root: greeter(t, "v1.0.0", "hello"), Cache: t.TempDir(), Out: &progress}
	for platform, want := range map[string]elf.Machine{"linux/s390x": elf.EM_S390, "linux/arm64": elf.EM_AARCH64} {
		tool, err := builder.EnsureFor(t.Context(), platform, "greeter")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"greet", "etcd"} {
			program, err := elf.Open(tool.Path(name))
			if err != nil {
				t.Fatal(err)
			}
			if program.Machine != want {
				t.Errorf("%s for %s is for %s", name, platform, program.Machine)
			}
			if err := program.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	here, err := builder.EnsureFor(t.Context(), runtime.GOOS+"/"+runtime.GOARCH, "greeter")
	if err != nil {
		t.Fatal(err)
	}
	if out := says(t, here.Path("greet")); out != "hello" {
		t.Errorf("for this machine it says %q", out)
	}
	if found, err := builder.Find(t.Context(), "greet"); err != nil || found != here.Path("greet") {
		t.Errorf("this machine has it in %s and in %s (%v)", found, here.Path("greet"), err)
	}
}
