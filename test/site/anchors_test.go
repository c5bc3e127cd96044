package site

import (
	"os"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// TestAnchors checks that each document is a page, and has there every anchor that it has on GitHub: documents link to them, and so may others.
func TestAnchors(t *testing.T) {
	texts, err := documents.Read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	byDocument, found := map[string]page{}, 0
	for _, page := range pages(t, folder(t)) {
		byDocument[page.document] = page
	}
	for name, text := range texts {
		page, is := byDocument[name]
		if !is {
			t.Errorf("%s is no page", name)
			continue
		}
		for anchor := range documents.Anchors(text) {
			if found++; !page.ids[anchor] {
				t.Errorf("the page of %s has no anchor %s", name, anchor)
			}
		}
	}
	for _, anchor := range []string{"quorumlost", "unsupportedversion"} {
		if !byDocument["docs/reasons.md"].ids[anchor] {
			t.Errorf("the page of the reasons has no anchor %s", anchor)
		}
	}
	t.Logf("%d anchors of %d documents", found, len(texts))
}
