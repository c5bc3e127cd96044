package reproducible

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dockerfile does what the first stage of the Dockerfile does, with nothing of the source tree but what it copies, and gives the
// folder with what is built. What it does not know it refuses.
func dockerfile(t *testing.T, source string, env ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(source, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, stage, _ := strings.Cut(string(text), "\nFROM scratch")
	stage = strings.TrimSuffix(string(text), stage)
	dir, out := t.TempDir(), t.TempDir()
	for line := range strings.Lines(regexp.MustCompile(`\\\n\s*`).ReplaceAllString(stage, "")) {
		instruction, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "COPY":
			run(t, source, []string{"DIR=" + dir}, copying(words))
		case "RUN":
			run(t, dir, append(env, "TARGETOS=", "TARGETARCH="), strings.ReplaceAll(words, "/out", out))
		case "FROM", "ARG", "WORKDIR", "#", "":
		default:
			t.Fatalf("this test does not know %s", instruction)
		}
	}
	return out
}

// copying is the script of a COPY. Of a folder, docker copies what is in it.
func copying(words string) string {
	fields := strings.Fields(words)
	last := len(fields) - 1
	to := `"$DIR/` + fields[last] + `"`
	script := "mkdir -p " + to + "\n"
	for _, from := range fields[:last] {
		if strings.HasSuffix(from, "/") {
			from += "."
		}
		script += "cp -r " + from + " " + to + "\n"
	}
	return script
}
