package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/damage"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
)

// WipeVolume removes all that is in the PersistentVolume behind a claim, given as NAMESPACE/PVC: the disk is there,
// and empty.
func (f Faults) WipeVolume(ctx context.Context, claim string) error {
	folder, err := f.volumeFiles(ctx, claim)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("read the volume of claim %s: %w", claim, err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return fmt.Errorf("wipe the volume of claim %s: %w", claim, err)
		}
	}
	return nil
}

// CorruptWAL flips bytes in the middle of what is written of the newest segment of the write-ahead log of the etcd
// member that keeps its data on a claim, given as NAMESPACE/PVC. The member sees it when it starts next, and cannot
// start.
func (f Faults) CorruptWAL(ctx context.Context, claim string) error {
	folder, err := f.volumeFiles(ctx, claim)
	if err != nil {
		return err
	}
	return damage.WAL(folder)
}

// CorruptDB flips bytes of the pages in the middle of the database file of the etcd member that keeps its data on a
// claim, given as NAMESPACE/PVC. The member fails when it reads them next, at the latest when it starts.
func (f Faults) CorruptDB(ctx context.Context, claim string) error {
	folder, err := f.volumeFiles(ctx, claim)
	if err != nil {
		return err
	}
	return damage.DB(folder)
}

// DivergeMember changes a value in the database of the etcd member that keeps its data on a claim, given as NAMESPACE/PVC: the last byte of a
// text becomes another one wherever the file has it. The member serves the wrong value at once, without noticing. Freeze it meanwhile:
// what it is about to write would undo that.
func (f Faults) DivergeMember(ctx context.Context, claim, text string) error {
	folder, err := f.volumeFiles(ctx, claim)
	if err != nil {
		return err
	}
	return damage.Value(folder, text)
}

// volumeOf returns the name of the PersistentVolume behind a claim, and its path, as its node sees it.
func (l *Lab) volumeOf(ctx context.Context, claim string) (volume, path string, err error) {
	namespace, name, found := strings.Cut(claim, "/")
	if !found {
		return "", "", fmt.Errorf("%q is not NAMESPACE/PVC", claim)
	}
	out, err := l.kubectl(ctx, nil, "get", "pvc", name, "--namespace="+namespace,
		"--output=jsonpath={.spec.volumeName}")
	if err != nil {
		return "", "", err
	}
	if volume = string(out); volume == "" {
		return "", "", fmt.Errorf("claim %s has no volume yet", claim)
	}
	out, err = l.kubectl(ctx, nil, "get", "pv", volume, "--output=jsonpath={.spec.hostPath.path}{.spec.local.path}")
	if err != nil {
		return "", "", err
	}
	path = filepath.Clean(string(out))
	if !strings.HasPrefix(path, l.state.Nodes()+"/") {
		return "", "", fmt.Errorf("volume %s of claim %s is at %q, outside the lab", volume, claim, path)
	}
	return volume, path, nil
}

// volumeFiles returns the path through which the host sees what is in the volume behind a claim.
func (f Faults) volumeFiles(ctx context.Context, claim string) (string, error) {
	_, path, err := f.lab.volumeOf(ctx, claim)
	if err != nil {
		return "", err
	}
	for _, node := range f.lab.nodes {
		if !strings.HasPrefix(path, f.lab.state.Mounts(node.Name())+"/") {
			continue
		}
		// A disk is mounted on its node only, while the node runs.
		pid, err := node.Process()
		return filepath.Join(disk.Root(pid), path), err
	}
	return path, nil
}
