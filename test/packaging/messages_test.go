package packaging

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

var (
	// led is a document, with or without a title in it, that a message of the operator leads to.
	led = regexp.MustCompile(`version\.Document\("(docs/[\w-]+\.md)(?:#([\w-]+))?"\)`)
	// bare is a document in a text that is not only its path.
	bare = regexp.MustCompile("(?m)^[^/\n]*[\"`](?:[^\"`\n]+docs/[\\w-]+\\.md|docs/[\\w-]+\\.md[^\"`#\n])")
)

// TestMessagesLead wants messages of the operator to lead to a document by its address, for people who have no checkout, and its title to be there.
func TestMessagesLead(t *testing.T) {
	texts, leads := texts(t), 0
	for _, folder := range []string{"controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			for _, named := range bare.FindAllString(string(text), -1) {
				t.Errorf("%s names a document by its path alone: %s", file, named)
			}
			for _, m := range led.FindAllStringSubmatch(string(text), -1) {
				leads++
				if document, found := texts[m[1]]; !found || m[2] != "" && !documents.Anchors(document)[m[2]] {
					t.Errorf("%s leads to %s#%s, which is not there", file, m[1], m[2])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if leads == 0 {
		t.Error("no message leads to any document: the test does not see them")
	}
}

// TestAlertsLead wants the alerts of a release to lead to its own runbooks, and those of any other build to what there is now.
func TestAlertsLead(t *testing.T) {
	for stamp, at := range map[string]string{"v9.8.7": "v9.8.7", "v9.8.7-5-gabcdef012345": "main"} {
		rules := 0
		for _, object := range newHelm(t, "STAMP="+stamp).rendered(t, "--set", "monitoring=cert-manager") {
			if object.GetKind() != "PrometheusRule" {
				continue
			}
			text, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			rules = strings.Count(string(text), `"alert":`)
			if led := strings.Count(string(text), "/etcd-operator/blob/"+at+"/docs/runbooks/"); led != rules {
				t.Errorf("%s: %d of %d alerts lead to %s", stamp, led, rules, at)
			}
		}
		if rules == 0 {
			t.Errorf("%s: the chart has no alerts", stamp)
		}
	}
}
