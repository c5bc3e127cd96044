// Package etcdimages puts the digests of etcd's images into the manifests of a release.
package etcdimages

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Digests are those of images, by their names with tags, such as quay.io/coreos/etcd:v3.6.16.
type Digests map[string]string

// line is an image by tag and digest: what the operator itself understands.
var line = regexp.MustCompile(`^([^\s@]+/[^\s@/:]+:v(\d+\.\d+\.\d+))@(sha256:[0-9a-f]{64})$`)

// Read reads a file that has an image in each line, and comments.
func Read(file string) (Digests, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read the digests of etcd's images: %w", err)
	}
	digests := Digests{}
	for image := range strings.Lines(string(text)) {
		image = strings.TrimSpace(image)
		if image == "" || strings.HasPrefix(image, "#") {
			continue
		}
		parts := line.FindStringSubmatch(image)
		if parts == nil {
			return nil, fmt.Errorf("%s: %q is not an image of etcd by tag and digest: want one such as quay.io/coreos/etcd:v3.6.16@sha256:…", file, image)
		}
		if _, twice := digests[parts[1]]; twice {
			return nil, fmt.Errorf("%s has %s twice", file, parts[1])
		}
		digests[parts[1]] = parts[3]
	}
	return digests, nil
}

// Write puts the digests into a file, below the comments that it has.
func (d Digests) Write(file string) error {
	before, err := os.ReadFile(filepath.Clean(file))
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("keep the comments of %s: %w", file, err)
	}
	var text strings.Builder
	for one := range strings.Lines(string(before)) {
		if strings.HasPrefix(one, "#") {
			text.WriteString(one)
		}
	}
	for _, tag := range d.tags() {
		text.WriteString(tag + "@" + d[tag] + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil { // #nosec G306 -- what they are is public
		return fmt.Errorf("write the digests of etcd's images: %w", err)
	}
	return nil
}

func (d Digests) tags() []string { return slices.Sorted(maps.Keys(d)) }
