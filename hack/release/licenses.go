package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/licenses"
	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

func licensesCommand() *cobra.Command {
	var (
		dir, platforms, title, output string
		packages, tools               []string
	)
	cmd := &cobra.Command{
		Use: "licenses", Short: "Write the licenses of all that is compiled into programs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			programs, err := toolsFrom(tools)
			if err != nil {
				return err
			}
			if len(packages) > 0 {
				programs = append(programs, licenses.Programs{Dir: dir, Packages: packages})
			}
			on := strings.Split(platforms, ",")
			slices.Sort(on)
			texts, err := licenses.Collect(cmd.Context(), slices.Compact(on), programs...)
			if err != nil {
				return err
			}
			var document strings.Builder
			if err := licenses.Write(&document, title, texts); err != nil {
				return err
			}
			const readable = 0o644
			if err := os.WriteFile(filepath.Clean(output), []byte(document.String()), readable); err != nil { // #nosec G306 -- it is published
				return fmt.Errorf("write the licenses: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", ".", "folder of the Go module that the packages are in")
	flags.StringArrayVar(&packages, "package", nil, "package of a program, may be repeated")
	flags.StringArrayVar(&tools, "tool", nil, "tool of hack/tools, may be repeated")
	flags.StringVar(&platforms, "platforms", "", "what the programs are built for, such as linux/amd64,linux/arm64")
	flags.StringVar(&title, "title", "", "first line of the document")
	flags.StringVar(&output, "output", "", "file to write")
	require(cmd, "platforms", "title", "output")
	cmd.MarkFlagsOneRequired("package", "tool")
	return cmd
}

// toolsFrom are the programs of tools that hack/tools pins.
func toolsFrom(names []string) ([]licenses.Programs, error) {
	builder, err := build.New(os.Stderr)
	if err != nil {
		return nil, err
	}
	var all []licenses.Programs
	for _, name := range names {
		tool, err := builder.Pinned(name)
		if err != nil {
			return nil, err
		}
		source, packages, tags := tool.Source()
		all = append(all, licenses.Programs{Dir: source, Packages: packages, Tags: tags})
	}
	return all, nil
}
