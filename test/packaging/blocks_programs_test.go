package packaging

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// shelf is what the blocks are judged by.
type shelf struct {
	*cluster
	// programs are the paths of those that are asked what they know, by what comes before their subcommands.
	programs map[string]string
	// helps are what they have answered already, by the whole command.
	helps sync.Map
	// options are what kubectl says of the flags that all of its commands have.
	options string
	// makefiles, sources and tests are the text of these, of the Go files and manifests, and of each file of tests.
	makefiles, sources string
	tests              []string
	// values are those of the chart.
	values map[string]any
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	etcd := filepath.Dir(asset(t, "TEST_ASSET_ETCDCTL"))
	s := &shelf{cluster: newCluster(t), programs: map[string]string{
		"kubectl": asset(t, "TEST_ASSET_KUBECTL"), "kubectl etcd": filepath.Join(t.TempDir(), "kubectl-etcd"), "helm": asset(t, "TEST_ASSET_HELM"),
		"etcdctl": asset(t, "TEST_ASSET_ETCDCTL"), "etcdutl": filepath.Join(etcd, "etcdutl"),
	}}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.programs["kubectl etcd"], "./cmd/kubectl-etcd")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build kubectl's plugin: %v\n%s", err, output)
	}
	options, err := exec.CommandContext(t.Context(), s.programs["kubectl"], "options").CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl options: %v\n%s", err, options)
	}
	s.options = string(options)
	for _, file := range makefiles {
		s.makefiles += string(read(t, file))
	}
	if err := yaml.Unmarshal(read(t, "config/chart/values.yaml"), &s.values); err != nil {
		t.Fatal(err)
	}
	s.collect(t)
	return s
}

// collect reads the sources, and apart from them the tests: what these name need not be there.
func (s *shelf) collect(t *testing.T) {
	t.Helper()
	var sources strings.Builder
	for _, folder := range []string{"api", "cmd", "config", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".yaml") {
				return err
			}
			text, err := os.ReadFile(file)
			if strings.HasSuffix(file, "_test.go") {
				s.tests = append(s.tests, string(text))
			} else {
				sources.Write(text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.sources = sources.String()
}

var (
	usage = regexp.MustCompile(`(?i)(?:^|\n)usage:\s+(\S.*)`)
	// below is above a list of subcommands. A command that has some may be one itself, as kubectl apply with a file.
	below = regexp.MustCompile(`(?im)^(available )?commands:`)
	group = regexp.MustCompile(`\[command\]|<subcommand>|SUBCOMMAND|[(]?-f |auth \[flags\]`)
	reads = regexp.MustCompile(` -[fk] `)
	lower = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// knows wants a program to know a command and its flags, and gives what it says of it. It is asked for help with the words of the
// command: that fails at what it does not have, or is about a command above.
func (p *page) knows(program string, words []string) string {
	p.Helper()
	whole := program + " " + strings.Join(words, " ")
	if help, found := p.helps.Load(whole); found {
		return help.(string)
	}
	before, behind, dashes := cutAtDashes(words)
	args := append(append([]string{}, before...), "--help")
	if dashes {
		args = append(append(args, "--"), behind...)
	}
	cmd := exec.CommandContext(p.Context(), p.programs[program], args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	output, err := cmd.CombinedOutput()
	help := string(output)
	if err != nil {
		p.Errorf("%s does not know %q: %v\n%.300s", program, words, err, help)
		return help
	}
	if line := usage.FindStringSubmatch(help); line == nil || below.MatchString(help) && group.MatchString(line[1]) && !reads.MatchString(whole) {
		p.Errorf("%s has no such subcommand: %q\n%.300s", program, words, help)
	}
	p.helps.Store(whole, help)
	return help
}

// subcommand is the one that a program's help is about, word by word.
func subcommand(program, help string) (found []string) {
	line := usage.FindStringSubmatch(help)
	if line == nil {
		return nil
	}
	for word := range strings.FieldsSeq(strings.TrimPrefix(line[1], program)) {
		if !lower.MatchString(word) {
			break
		}
		found = append(found, word)
	}
	return found
}

// call is what a program makes of words.
type call struct {
	words []string
	// flags are the values of those that take one, by their long names.
	flags map[string][]string
}

var (
	kubectlFlag = regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([\w-]+)=(.*):$`)
	cobraFlag   = regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([\w-]+) (\w+) +\S`)
)

// flags are the long names of the flags that take a value, by that and by their short ones.
func (p *page) flags(help string) map[string]string {
	long := map[string]string{}
	for _, m := range kubectlFlag.FindAllStringSubmatch(help+"\n"+p.options, -1) {
		if m[3] != "true" && m[3] != "false" {
			long[m[1]], long[m[2]] = m[2], m[2]
		}
	}
	for _, m := range cobraFlag.FindAllStringSubmatch(help, -1) {
		long[m[1]], long[m[2]] = m[2], m[2]
	}
	delete(long, "")
	return long
}

// parse tells the words of a command from its flags, up to the dashes behind which another command begins.
func parse(words []string, takes map[string]string) call {
	c := call{flags: map[string][]string{}}
	words, _, _ = cutAtDashes(words)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "-") || word == "-" {
			c.words = append(c.words, word)
			continue
		}
		name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		long, found := takes[name]
		if found && !assigned && i+1 < len(words) {
			i++
			value = words[i]
		}
		if found {
			c.flags[long] = append(c.flags[long], value)
		}
	}
	return c
}
