package state

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDefault(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	t.Setenv(Variable, "")
	if dir, err := Default(); err != nil || dir != "/home/somebody/.local/state/etcd-operator-lab" {
		t.Errorf("Default = %s, %v", dir, err)
	}
	t.Setenv(Variable, "relative")
	if dir, err := Default(); err != nil || !filepath.IsAbs(string(dir)) || !strings.HasSuffix(string(dir), "/relative") {
		t.Errorf("Default with %s=relative = %s, %v", Variable, dir, err)
	}
}

func TestAllIsBelowTheFolder(t *testing.T) {
	dir := Dir("/state")
	for _, path := range []string{
		dir.Kubeconfig(), dir.Config(), dir.Lock(), dir.PKI(), dir.Run(), dir.Logs(), dir.Log("etcd"), dir.Nodes(),
		dir.Node("n1"), dir.Volumes("n1"), dir.Disks(), dir.Broken(), dir.Clock(), dir.Mounts("n1"),
		dir.Addon("minio"),
	} {
		if !strings.HasPrefix(path, "/state/") {
			t.Errorf("%s is outside the state folder", path)
		}
	}
	if !strings.HasPrefix(dir.Volumes("n1"), dir.Node("n1")+"/") {
		t.Error("a node's volumes are outside the node's folder")
	}
}
