package site

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"sigs.k8s.io/yaml"
)

// folder is where the site is.
func folder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SITE")
	if dir == "" {
		t.Fatal("SITE names no folder with the site: run make test-docs")
	}
	return dir
}

// reference is an attribute that leads from a page to something else.
type reference struct{ element, attribute, to string }

// page is what is tested of a file in HTML.
type page struct {
	// document is what it is made from, by its path in the source tree.
	document   string
	ids        map[string]bool
	references []reference
}

// leads are the attributes that have addresses. What the canonical one of a page is only search engines ask.
var leads = map[string]bool{"href": true, "src": true, "srcset": true, "action": true, "data": true, "poster": true}

func parse(t *testing.T, file string) page {
	t.Helper()
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	root, err := html.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	found := page{ids: map[string]bool{}}
	for node := range root.Descendants() {
		for _, attribute := range node.Attr {
			if attribute.Key == "id" {
				if found.ids[attribute.Val] {
					t.Errorf("%s has the id %s more than once", file, attribute.Val)
				}
				found.ids[attribute.Val] = true
			}
			if leads[attribute.Key] && !slices.Contains(node.Attr, html.Attribute{Key: "rel", Val: "canonical"}) {
				found.references = append(found.references, reference{node.Data, attribute.Key, attribute.Val})
			}
			if attribute.Key == "data-document" {
				found.document = attribute.Val
			}
		}
	}
	return found
}

// pages are those of a site in a folder, by the paths of their files.
func pages(t *testing.T, dir string) map[string]page {
	t.Helper()
	all := map[string]page{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(file string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".html" && !strings.Contains("/"+file, "/pagefind/") {
			all[file] = parse(t, filepath.Join(dir, file))
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("the site has %d pages: %v", len(all), err)
	}
	return all
}

// target is the file that a reference of a page in another file leads to.
func target(from string, to *url.URL) string {
	if to.Path == "" {
		return from
	}
	file := path.Join(path.Dir(from), to.Path)
	if strings.HasSuffix(to.Path, "/") || to.Path == "." || to.Path == ".." {
		file = path.Join(file, "index.html")
	}
	return file
}

// versions are the files that the sites of all versions begin with, each in a folder beside this one.
func versions(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/site/data/versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Version string `json:"version"`
	}
	if err := yaml.Unmarshal(text, &listed); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, one := range listed {
		found["../"+one.Version+"/index.html"] = true
	}
	return found
}

// TestLinks checks that what is linked to is there, with its fragment. Links that leave the site are only held to be addresses of the web.
func TestLinks(t *testing.T) {
	checkLinks(t, folder(t), versions(t))
}

// checkLinks checks the links of a site in a folder. The others are files outside of it.
func checkLinks(t *testing.T, dir string, others map[string]bool) {
	t.Helper()
	all, checked := pages(t, dir), 0
	for file, page := range all {
		for _, reference := range page.references {
			to, err := url.Parse(reference.to)
			switch {
			case err != nil:
				t.Errorf("%s: %v", file, err)
				continue
			case to.Scheme == "https" || to.Scheme == "http":
				continue
			case to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "/"):
				t.Errorf("%s has a link to %s, which is not relative", file, reference.to)
				continue
			}
			checked++
			name := target(file, to)
			if others[name] {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s has a link to %s: %v", file, reference.to, err)
			} else if to.Fragment != "" && !all[name].ids[to.Fragment] {
				t.Errorf("%s has a link to %s, and %s has no such anchor", file, reference.to, name)
			}
		}
	}
	t.Logf("%d links between %d pages", checked, len(all))
	if checked < len(all) {
		t.Error("there is less than one link a page: this test reads them wrongly")
	}
}

// TestNothingFromElsewhere checks that no page has a browser load anything from another server.
func TestNothingFromElsewhere(t *testing.T) {
	for file, page := range pages(t, folder(t)) {
		for _, reference := range page.references {
			loads := reference.element != "a" && (reference.attribute != "href" || reference.element == "link")
			if to, err := url.Parse(reference.to); loads && (err != nil || to.Scheme != "" || to.Host != "") {
				t.Errorf("%s: <%s> loads %s", file, reference.element, reference.to)
			}
		}
	}
	styles, err := filepath.Glob(filepath.Join(folder(t), "*.css"))
	if err != nil || len(styles) == 0 {
		t.Fatalf("the site has no style: %v", err)
	}
	for _, style := range styles {
		text, err := os.ReadFile(style)
		if err != nil || regexp.MustCompile(`url\(|@import`).Match(text) {
			t.Errorf("%s loads something: %v", style, err)
		}
	}
}
