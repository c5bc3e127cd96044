package etcdimages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// managerFile is what is changed in a folder such as config.
const managerFile = "manager/manager.yaml"

// variable is one of the manager's that names an image of etcd.
var variable = regexp.MustCompile(`(?m)^( *)- name: RELATED_IMAGE_ETCD_[0-9_]+\n *value: (\S+)\n`)

// Named are the images of etcd that the manifests in a folder name, by tag.
func Named(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, managerFile))
	if err != nil {
		return nil, fmt.Errorf("look for images of etcd: %w", err)
	}
	var images []string
	for _, found := range variable.FindAllStringSubmatch(string(text), -1) {
		images = append(images, found[2])
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("%s names no image of etcd", filepath.Join(folder, managerFile))
	}
	return images, nil
}

// Lacking says which images of the manifests have no digest.
func (d Digests) Lacking(folder string) (lacking []string, err error) {
	named, err := Named(folder)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(named, func(image string) bool { return d[image] != "" }), nil
}

// Pin has the manifests in a folder name all images of etcd by digest. A version that they do not name any more, but the digests do, gets a
// variable, too: clusters run it still, from a mirror that knows no tags.
func (d Digests) Pin(folder string) error {
	lacking, err := d.Lacking(folder)
	if err != nil {
		return err
	}
	if len(lacking) > 0 {
		return fmt.Errorf("there is no digest of %s", strings.Join(lacking, ", "))
	}
	file := filepath.Join(folder, managerFile)
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return fmt.Errorf("name etcd's images by digest: %w", err)
	}
	pinned, err := d.pinned(string(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Clean(file), []byte(pinned), 0o644); err != nil { // #nosec G306 G703 -- as the others beside it
		return fmt.Errorf("name etcd's images by digest: %w", err)
	}
	return nil
}

// pinned is the manager's manifest with digests in the place of tags, which OLM and those who mirror what a bundle lists expect alone.
func (d Digests) pinned(text string) (string, error) {
	all := variable.FindAllStringSubmatchIndex(text, -1)
	first, last := all[0], all[len(all)-1]
	for _, tag := range d.tags() {
		if !strings.HasPrefix(tag, repository(text[first[4]:first[5]])+":") {
			return "", fmt.Errorf("%s is not from the repository that the manifests name", tag)
		}
	}
	indent := text[first[2]:first[3]]
	var variables strings.Builder
	for _, tag := range d.tags() {
		name := "RELATED_IMAGE_ETCD_" + strings.ReplaceAll(strings.TrimPrefix(tag[len(repository(tag)):], ":v"), ".", "_")
		fmt.Fprintf(&variables, "%[1]s- name: %[2]s\n%[1]s  value: %[3]s@%[4]s\n", indent, name, repository(tag), d[tag])
	}
	return text[:first[0]] + variables.String() + text[last[1]:], nil
}

// repository is the name of an image without its tag.
func repository(image string) string { return image[:strings.LastIndexByte(image, ':')] }
