package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Serve shows the images of a store to the kernel, with each flush as slow as was asked for, until the context ends.
// It needs root. What it mounts goes with the mount namespace that it runs in.
func Serve(ctx context.Context, store Store) error {
	if err := store.makeFolders(); err != nil {
		return err
	}
	// One name per image is looked up once or twice in the life of a disk: nothing is gained by caching it.
	options := &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "lab-disks", Name: "lab"}}
	server, err := fs.Mount(store.served(), &folder{store: store}, options)
	if err != nil {
		return fmt.Errorf("mount the disks' images: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Unmount() })
	defer stop()
	server.Wait()
	return nil
}

// folder is the one folder that is served.
type folder struct {
	fs.Inode
	store Store
}

// Lookup finds an image.
func (f *folder) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	file := &image{path: filepath.Join(f.store.images(), name), delay: f.store.delayFile(name)}
	var stat syscall.Stat_t
	if err := syscall.Stat(file.path, &stat); err != nil {
		return nil, fs.ToErrno(err)
	}
	out.FromStat(&stat)
	// A number of its own: the image's inode number may be that of an image removed before, which the kernel still knows, and
	// go-fuse would then answer for that one.
	return f.NewInode(ctx, file, fs.StableAttr{Mode: syscall.S_IFREG}), fs.OK
}

// image is the file behind one disk.
type image struct {
	fs.Inode
	path, delay string
}

// Getattr tells the image's size.
func (i *image) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var stat syscall.Stat_t
	if err := syscall.Stat(i.path, &stat); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&stat)
	return fs.OK
}

// Open opens the image for a loop device.
func (i *image) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	file, err := os.OpenFile(i.path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return &opened{file: file, delay: i.delay}, 0, fs.OK
}

// opened is an open image.
type opened struct {
	file  *os.File
	delay string
}

// Read reads a part of the image.
func (o *opened) Read(_ context.Context, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultFd(o.file.Fd(), offset, len(dest)), fs.OK
}

// Write writes a part of the image.
func (o *opened) Write(_ context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	written, err := o.file.WriteAt(data, offset)
	return uint32(written), toErrno(err) // #nosec G115 -- at most len(data), which came in 32 bits
}

// Fsync is the disk's flush: every fsync of a file on the disk ends in one, and waits for it.
//
// The image itself is not flushed. It may die with the machine, and must not slow the other disks.
func (o *opened) Fsync(ctx context.Context, _ uint32) syscall.Errno {
	began := time.Now()
	const interval = 10 * time.Millisecond
	// The delay is read repeatedly, so that a flush that hangs ends when the disk is made fast.
	for {
		delay, err := readDelay(o.delay)
		if err != nil {
			return syscall.EIO
		}
		left := delay - time.Since(began)
		if left <= 0 {
			return fs.OK
		}
		select {
		case <-ctx.Done(): // The kernel interrupts it.
			return syscall.EINTR
		case <-time.After(min(left, interval)):
		}
	}
}

// Release closes the image.
func (o *opened) Release(context.Context) syscall.Errno { return toErrno(o.file.Close()) }

func toErrno(err error) syscall.Errno {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fs.ToErrno(err)
}
