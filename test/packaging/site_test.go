package packaging

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const siteDir = "docs/site/"

// menuPage is a page in the menu of the documents' site, with those below it.
type menuPage struct {
	File  string     `json:"file"`
	Pages []menuPage `json:"pages"`
}

// files are those of a page and of all below it.
func (p menuPage) files() []string {
	files := []string{p.File}
	for _, page := range p.Pages {
		files = append(files, page.files()...)
	}
	return files
}

// TestMenuHasEveryDocument checks that the menu of the documents' site names each document once, and nothing else.
func TestMenuHasEveryDocument(t *testing.T) {
	var menu []struct {
		Pages []menuPage `json:"pages"`
	}
	if err := yaml.Unmarshal(read(t, siteDir+"data/menu.yaml"), &menu); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, group := range menu {
		for _, page := range group.Pages {
			listed = append(listed, page.files()...)
		}
	}
	documents := texts(t)
	for file := range documents {
		if !slices.Contains(listed, file) {
			t.Errorf("%sdata/menu.yaml lacks %s", siteDir, file)
		}
	}
	slices.Sort(listed)
	for i, file := range listed {
		if documents[file] == "" {
			t.Errorf("%sdata/menu.yaml has %s, which is no document", siteDir, file)
		}
		if i > 0 && file == listed[i-1] {
			t.Errorf("%sdata/menu.yaml has %s more than once", siteDir, file)
		}
	}
}

// TestSiteHasEveryDocument checks that the site is made from each document at the top of the source tree: those of docs are mounted as a folder.
func TestSiteHasEveryDocument(t *testing.T) {
	config := string(read(t, siteDir+"hugo.yaml"))
	for file := range texts(t) {
		if !strings.Contains(file, "/") && !strings.Contains(config, "source: ../../"+file+",") {
			t.Errorf("%shugo.yaml mounts no %s", siteDir, file)
		}
	}
}

// TestSiteHasThisVersion checks that the menu of versions has that of the Makefile, built from this tree.
func TestSiteHasThisVersion(t *testing.T) {
	version := regexp.MustCompile(`(?m)^VERSION \?= (\d+\.\d+)\.`).FindSubmatch(read(t, "Makefile"))
	var versions []struct {
		Version string `json:"version"`
		Tag     string `json:"tag"`
	}
	if err := yaml.Unmarshal(read(t, siteDir+"data/versions.yaml"), &versions); err != nil || version == nil {
		t.Fatalf("the version is %s, those of the site: %v", version, err)
	}
	for _, one := range versions {
		if one.Version == string(version[1]) && one.Tag == "" {
			return
		}
	}
	t.Errorf("%sdata/versions.yaml lacks %s without a tag", siteDir, version[1])
}
