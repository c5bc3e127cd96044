package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// nothing is what documents say until the first release. A page says it of no release, not even of a rehearsed one.
const nothing = "Nothing is published yet."

var (
	// unpublished matches what documents say until the first release, and in a table until that of a version.
	unpublished = regexp.MustCompile(`Nothing is (?:published|released) yet|, not released \|`)
	// own matches a version of this project: in the name or address of what is released, or in a command about it.
	own = regexp.MustCompile(`(?:etcd-operator(?:-bundle|-catalog)?[-:/]v?|charts/etcd-operator --version |releases/download/v|(?:etcdpilot/etcd-operator|…)/(?:blob|tree|releases/tag)/v|dist/v|(?:catalog|pushed)-v|` +
		`\bVERSION=|STAMP=v|checkout v|--branch v|tag -s v|-m v|origin v)(\d+\.\d+\.\d+(?:-[-0-9A-Za-z.]*[0-9A-Za-z])?)`)
	// ending is what a file has behind its version.
	ending = regexp.MustCompile(`\.(?:tgz|txt|yaml)$`)
)

// published wants no document to say that what is released is not, or to name another version for it. The changelog tells of earlier ones, too.
func (t Tree) published() error {
	tree := os.DirFS(t.Dir)
	var found []error
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/runbooks/*.md"} {
		files, err := fs.Glob(tree, pattern)
		if err != nil {
			return fmt.Errorf("list the documents: %w", err)
		}
		for _, file := range files {
			judges := []func(string) error{unreleased}
			if file != "CHANGELOG.md" {
				judges = append(judges, t.otherVersion)
			}
			found = append(found, eachLine(tree, file, judges...))
		}
	}
	return errors.Join(append(found, t.developed(tree))...)
}

// unreleased wants a line not to say that what is released is not.
func unreleased(line string) error {
	if said := unpublished.FindString(line); said != "" {
		return fmt.Errorf("says %q: take it out", said)
	}
	return nil
}

// otherVersion wants a line to name no other version of this project.
func (t Tree) otherVersion(line string) error {
	for _, named := range own.FindAllStringSubmatch(line, -1) {
		if version := ending.ReplaceAllString(named[1], ""); version != t.Version {
			return fmt.Errorf("names version %s of this operator: write %s", version, t.Version)
		}
	}
	return nil
}

// developed wants the site's menu not to call the minor release one under development.
func (t Tree) developed(tree fs.FS) error {
	const menu = "docs/site/data/versions.yaml"
	entry := fmt.Sprintf("version: %q", strings.TrimPrefix(semver.MajorMinor("v"+t.Version), "v"))
	return eachLine(tree, menu, func(line string) error {
		if strings.Contains(line, entry) && strings.Contains(line, "(development)") {
			return errors.New(`says "(development)": take it out`)
		}
		return nil
	})
}

// eachLine is what the first judge who objects says of each line of a file.
func eachLine(tree fs.FS, file string, judges ...func(line string) error) error {
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return fmt.Errorf("read a document: %w", err)
	}
	var found []error
	for i, line := range strings.Split(string(text), "\n") {
		for _, judge := range judges {
			if err := judge(line); err != nil {
				found = append(found, fmt.Errorf("%s:%d %w", file, i+1, err))
				break
			}
		}
	}
	return errors.Join(found...)
}
