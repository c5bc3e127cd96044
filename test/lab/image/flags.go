package image

import (
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/pflag"
)

// Flags describe a Spec on a command line.
type Flags struct {
	spec  Spec
	files []string
}

// Add defines the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "file", nil, "SOURCE:DESTINATION of a file or folder, may be repeated")
	flags.StringVar(&f.spec.User, "user", "", "user that the entry point runs as")
	flags.StringArrayVar(&f.spec.Entrypoint, "entrypoint", nil, "entry point; repeat it for each word")
	flags.StringArrayVar(&f.spec.Cmd, "cmd", nil, "argument that a container may replace, may be repeated")
	flags.StringArrayVar(&f.spec.Env, "env", nil, "NAME=value, may be repeated")
	flags.StringToStringVar(&f.spec.Labels, "label", nil, "NAME=value, may be repeated")
}

// Spec is what the flags say, after the command line was parsed. The replacer changes the sources of files.
func (f *Flags) Spec(sources *strings.Replacer) (Spec, error) {
	spec := f.spec
	spec.Files = map[string]File{}
	for _, pair := range f.files {
		source, destination, found := strings.Cut(pair, ":")
		if !found || source == "" || !strings.HasPrefix(destination, "/") {
			return Spec{}, fmt.Errorf("--file %q: want SOURCE:/DESTINATION", pair)
		}
		below, err := Folder(sources.Replace(source), destination)
		if err != nil {
			return Spec{}, err
		}
		maps.Copy(spec.Files, below)
	}
	return spec, nil
}
