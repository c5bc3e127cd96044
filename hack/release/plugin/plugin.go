// Package plugin packs kubectl's plugin for its users: an archive for each platform, and the manifest by which krew installs it.
package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/release/archive"
	"github.com/etcdpilot/etcd-operator/hack/release/images"
)

// name of the program; kubectl finds it by this name as kubectl etcd.
const name = "kubectl-etcd"

// manifestFile is called as krew wants it: as the plugin.
const manifestFile = "etcd.yaml"

// Plugin is what is packed.
type Plugin struct {
	// Programs is the folder that has a folder for each platform, such as linux-amd64, with the program in it.
	Programs string
	// Version of the release, without a leading v.
	Version string
	// Source is the address of the repository, under which the release's files are found.
	Source string
	// Licenses are files that go into each archive.
	Licenses []string
}

// Write writes the archives and the manifest into a folder. All in them is as old as the time says.
func (p Plugin) Write(folder string, platforms []images.Platform, made time.Time) error {
	m := p.manifest()
	for _, platform := range platforms {
		file, program := p.archive(platform)
		entries, err := p.entries(platform, program)
		if err != nil {
			return err
		}
		if err := archive.Write(filepath.Join(folder, file), entries, made); err != nil {
			return err
		}
		packed, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return fmt.Errorf("pack the plugin: %w", err)
		}
		sum := sha256.Sum256(packed)
		m.Spec.Platforms = append(m.Spec.Platforms, download{
			Selector: selector{map[string]string{"os": platform.OS, "arch": platform.Architecture}},
			URI:      p.Source + "/releases/download/v" + p.Version + "/" + file, SHA256: hex.EncodeToString(sum[:]), Bin: program,
		})
	}
	text, err := yaml.Marshal(m)
	if err != nil {
		return fmt.Errorf("write krew's manifest: %w", err)
	}
	const readable = 0o644
	if err := os.WriteFile(filepath.Join(folder, manifestFile), text, readable); err != nil { // #nosec G306 -- it is published
		return fmt.Errorf("write krew's manifest: %w", err)
	}
	return nil
}

// archive gives the names of a platform's archive and of the program in it, as its users expect them.
func (p Plugin) archive(platform images.Platform) (file, program string) {
	file = strings.Join([]string{name, "v" + p.Version, platform.OS, platform.Architecture}, "_")
	if platform.OS == "windows" {
		return file + ".zip", name + ".exe"
	}
	return file + ".tar.gz", name
}

func (p Plugin) entries(platform images.Platform, program string) ([]archive.Entry, error) {
	entry, err := archive.Read(filepath.Join(p.Programs, platform.Folder(), name), program)
	if err != nil {
		return nil, fmt.Errorf("pack the plugin for %s: %w", platform, err)
	}
	entry.Executable = true
	entries := []archive.Entry{entry}
	for _, file := range p.Licenses {
		license, err := archive.Read(file, filepath.Base(file))
		if err != nil {
			return nil, fmt.Errorf("pack the plugin's licenses: %w", err)
		}
		license.Executable = false
		entries = append(entries, license)
	}
	return entries, nil
}
