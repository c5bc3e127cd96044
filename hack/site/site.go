package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// listFile has the versions. Every version is built with the list of this tree, so that its menu leads to those that came later, too.
const listFile = "docs/site/data/versions.yaml"

// version is one of the list, the newest of which comes first.
type version struct {
	// Version is that of a minor release, and the name of the folder.
	Version string `json:"version"`
	// Tag is what its documents are built from; without one it is this tree.
	Tag string `json:"tag"`
}

type site struct {
	tree, folder, url string
	// out gets what is printed on the way.
	out io.Writer
}

var (
	minorForm = regexp.MustCompile(`^\d+\.\d+$`)
	tagForm   = regexp.MustCompile(`^v(\d+\.\d+)\.\d+$`)
)

// versions reads the list.
func (s site) versions() (all []version, err error) {
	text, err := os.ReadFile(filepath.Join(s.tree, listFile))
	if err != nil {
		return nil, fmt.Errorf("read the versions: %w", err)
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", listFile, err)
	}
	here := 0
	for _, v := range all {
		tag := tagForm.FindStringSubmatch(v.Tag)
		switch {
		case !minorForm.MatchString(v.Version):
			return nil, fmt.Errorf("%s: the version is %q, want one such as 0.1", listFile, v.Version)
		case v.Tag == "":
			here++
		case tag == nil || tag[1] != v.Version:
			return nil, fmt.Errorf("%s: version %s is built from the tag %q, want one of that version, such as v%[2]s.0", listFile, v.Version, v.Tag)
		}
	}
	if here != 1 {
		return nil, fmt.Errorf("%s: %d versions have no tag, want one: that of this tree", listFile, here)
	}
	return all, nil
}

// first is the version that the top of the site leads to.
func first(all []version) version {
	return all[max(0, slices.IndexFunc(all, func(v version) bool { return v.Tag != "" }))]
}

func (s site) write(ctx context.Context) (err error) {
	all, err := s.versions()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.folder); err != nil {
		return fmt.Errorf("remove the former site: %w", err)
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil { // #nosec G301 -- it is published
		return fmt.Errorf("make the site: %w", err)
	}
	work, err := os.MkdirTemp("", "etcd-operator-site-")
	if err != nil {
		return fmt.Errorf("make the site: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	for _, v := range all {
		if err := s.writeVersion(ctx, v, filepath.Join(work, v.Version)); err != nil {
			return fmt.Errorf("version %s: %w", v.Version, err)
		}
	}
	page := fmt.Sprintf(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>etcd-operator</title>
<meta http-equiv="refresh" content="0; url=%[1]s/"><a href="%[1]s/">etcd-operator %[1]s</a></html>
`, first(all).Version)
	return os.WriteFile(filepath.Join(s.folder, "index.html"), []byte(page), 0o644) // #nosec G306 -- it is published
}

// writeVersion has the Makefile of a version make its documents, in a folder to work in.
func (s site) writeVersion(ctx context.Context, v version, work string) error {
	tree, dist := s.tree, filepath.Join(work, "dist")
	if v.Tag != "" {
		tree = filepath.Join(work, "tree")
		if err := s.checkOut(ctx, v.Tag, tree); err != nil {
			return err
		}
	}
	url := ""
	if s.url != "" {
		url = strings.TrimSuffix(s.url, "/") + "/" + v.Version + "/"
	}
	if err := s.run(ctx, tree, "make", "docs", "DIST="+dist, "DOCS_URL="+url); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(s.folder, v.Version), os.DirFS(filepath.Join(dist, "docs")))
}

// checkOut makes a tree of what a tag has, with the list of this one. Its Makefile is run, so a tag counts only where its commit is part of the
// history that was reviewed: whoever may push a tag, but not to main, is not to have the site.
func (s site) checkOut(ctx context.Context, tag, tree string) error {
	if err := s.run(ctx, s.tree, "git", "merge-base", "--is-ancestor", "refs/tags/"+tag+"^{commit}", "HEAD"); err != nil {
		return fmt.Errorf("the commit of the tag %s is not in the history of this tree: %w", tag, err)
	}
	if err := s.run(ctx, s.tree, "git", "clone", "--quiet", "--no-checkout", s.tree, tree); err != nil {
		return err
	}
	if err := s.run(ctx, tree, "git", "checkout", "--quiet", "--detach", "refs/tags/"+tag); err != nil {
		return err
	}
	list, err := os.ReadFile(filepath.Join(s.tree, listFile))
	if err != nil {
		return fmt.Errorf("read the versions: %w", err)
	}
	return os.WriteFile(filepath.Join(tree, listFile), list, 0o644) // #nosec G306 -- as it was
}

// run runs a program without what a make around this one was told, as a tree of another version has its own, and without what a workflow's
// runner was told: its tokens, and files that change the steps to come.
func (s site) run(ctx context.Context, folder, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- the Makefile's own
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, s.out, s.out
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		variable, _, _ := strings.Cut(pair, "=")
		isPrefix := func(prefix string) bool { return strings.HasPrefix(variable, prefix) }
		return slices.ContainsFunc([]string{"MAKE", "GITHUB_", "ACTIONS_"}, isPrefix) ||
			slices.Contains([]string{"MFLAGS", "VERSION", "DIST", "BIN", "DOCS_URL"}, variable)
	})
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
