package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// Unpack writes the files of an uncompressed tar archive below a folder, and never beside it.
func Unpack(file, folder string) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return errors.Join(fmt.Errorf("unpack: %w", err), in.Close())
	}
	defer func() { err = errors.Join(err, root.Close(), in.Close()) }()
	for reader := tar.NewReader(in); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("unpack %s: %w", file, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := extract(root, header.Name, reader); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func extract(root *os.Root, name string, content io.Reader) error {
	const private = 0o700
	if err := root.MkdirAll(path.Dir(name), private); err != nil {
		return err
	}
	out, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
