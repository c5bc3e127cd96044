// Command site makes one site of the documents of all versions that docs/site/data/versions.yaml lists: each has a folder, and what is at the
// top leads to the newest that is released.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	s := site{out: os.Stderr}
	flag.StringVar(&s.tree, "tree", "", "top of the source tree")
	flag.StringVar(&s.folder, "output", "", "folder to write; what is in it is removed")
	flag.StringVar(&s.url, "url", "", "address that the site is going to have")
	flag.Parse()
	err := s.write(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
