package disk

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestServeReusedInode has one disk's image take the inode of another one's, as it does when a disk is made after one was
// removed.
func TestServeReusedInode(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	store := Store{Dir: t.TempDir()}
	if err := store.makeFolders(); err != nil {
		t.Fatal(err)
	}
	former, next := filepath.Join(store.images(), "n1-former"), filepath.Join(store.images(), "n1-next")
	if err := os.WriteFile(former, []byte("image"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, store) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	served := func(name string) error {
		_, err := os.Stat(filepath.Join(store.served(), name))
		return err
	}
	deadline := time.Now().Add(10 * time.Second)
	for served("n1-former") != nil {
		if time.Now().After(deadline) {
			t.Fatal(served("n1-former"))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.Rename(former, next); err != nil {
		t.Fatal(err)
	}
	if err := served("n1-next"); err != nil {
		t.Errorf("an image with the inode of an earlier one is not served: %v", err)
	}
}
