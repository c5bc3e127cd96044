package image

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
)

// Folder lists all files below a folder of this machine as files below a folder of an image.
func Folder(source, destination string) (map[string]File, error) {
	files := map[string]File{}
	err := filepath.WalkDir(source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		files[path.Join(destination, filepath.ToSlash(inside))] = File{Source: file}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of folder %s: %w", source, err)
	}
	return files, nil
}
