package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// picture is one in a description, which a console loads from the repository: it does not have the file.
var picture = regexp.MustCompile(`!\[[^]]+\]\(https://raw\.githubusercontent\.com/etcdpilot/etcd-operator/main/docs/images/([\w.-]+)\)`)

// TestBundleShowsEveryPicture checks that who looks at the bundle in a console sees all pictures there are, and no broken ones.
func TestBundleShowsEveryPicture(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	var there, shown []string
	for _, entry := range entries {
		there = append(there, entry.Name())
	}
	for _, found := range picture.FindAllStringSubmatch(readCSV(t).Spec.Description, -1) {
		shown = append(shown, found[1])
	}
	slices.Sort(shown)
	if !slices.Equal(shown, there) {
		t.Errorf("the description shows %q, and docs/images has %q", shown, there)
	}
}
