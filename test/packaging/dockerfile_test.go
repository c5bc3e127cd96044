package packaging

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDockerfileHasTheMakefile wants docker build to get all files that make reads there: the Dockerfile copies what it needs one by one.
func TestDockerfileHasTheMakefile(t *testing.T) {
	var copied []string
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-\n].*) \S+$`).FindAllStringSubmatch(string(read(t, "Dockerfile")), -1) {
		copied = append(copied, strings.Fields(line[1])...)
	}
	files := []string{"Makefile"}
	for i := 0; i < len(files); i++ { // what is included may include more
		for _, line := range regexp.MustCompile(`(?m)^-?s?include (.+)$`).FindAllStringSubmatch(string(read(t, files[i])), -1) {
			files = append(files, strings.Fields(line[1])...)
		}
	}
	if len(files) < 3 {
		t.Fatalf("this test finds only %v", files)
	}
	for _, file := range files {
		if !slices.ContainsFunc(copied, func(pattern string) bool {
			matches, err := path.Match(pattern, file)
			return err == nil && matches || strings.HasSuffix(pattern, "/") && strings.HasPrefix(file, pattern)
		}) {
			t.Errorf("the Dockerfile does not copy %s, only %v", file, copied)
		}
	}
}
