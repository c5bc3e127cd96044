package blobstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// temporary is the name of the file that the driver writes to until an object is whole. The group is the object's name.
var temporary = regexp.MustCompile(`^(.+)\.[0-9a-f]+\.tmp$`)

// Sweep removes the files of writes that were killed, if nothing was written to them since that time, and if the objects that
// they were to be are one's own. It looks at the folder alone, and does nothing where objects are no files: what a service was
// sent of an object is not there for anyone. It returns how many it has removed, also with an error.
func (b *Bucket) Sweep(since time.Time, own func(object string) bool) (removed int, err error) {
	if b.folder == "" {
		return 0, nil
	}
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		return 0, b.explain(toList, "", err)
	}
	for _, e := range entries {
		parts := temporary.FindStringSubmatch(e.Name())
		if parts == nil || !e.Type().IsRegular() || !own(parts[1]) {
			continue
		}
		info, err := e.Info()
		if err == nil && !info.ModTime().Before(since) {
			continue
		}
		if err == nil {
			err = os.Remove(filepath.Join(b.folder, e.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return removed, b.explain(toDelete, e.Name(), err)
		}
		removed++
	}
	return removed, nil
}
