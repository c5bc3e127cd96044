package packaging

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// everyday are the programs that every reader has, or the shell itself, and whose arguments nobody here looks at.
var everyday = []string{
	"[", "awk", "base64", "cat", "cd", "cp", "cut", "date", "diff", "echo", "env", "eval", "export", "git", "grep", "head", "kill", "less", "mktemp", "nc", "openssl",
	"python3", "rm", "sed", "sha256sum", "sleep", "sort", "tail", "tar", "uniq",
}

// variable is what stands for the value of a variable, and for what a command prints, in the words of another one.
const variable = "VARIABLE"

// command is a command of a block: its words as the program gets them, and its standard input if the block has that.
type command struct {
	words []string
	input string
}

// commands judges all commands of a text.
func (p *page) commands(text string) {
	p.Helper()
	language := syntax.LangPOSIX
	if p.block.Language == "bash" {
		language = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(language)).Parse(strings.NewReader(text), "")
	if err != nil {
		p.Errorf("no shell takes this: %v", err)
		return
	}
	own := map[string]bool{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			own[n.Name.Value] = true
		case *syntax.Stmt:
			if c := p.read(n); len(c.words) > 0 && !own[c.words[0]] {
				p.command(c)
			}
		}
		return true
	})
}

// read gives the words of a simple command, and none of what consists of several: these come by themselves.
func (p *page) read(statement *syntax.Stmt) (c command) {
	p.Helper()
	call, ok := statement.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return command{}
	}
	config := &expand.Config{
		Env:       expand.FuncEnviron(valueOf),
		CmdSubst:  func(w io.Writer, _ *syntax.CmdSubst) error { _, err := io.WriteString(w, variable); return err },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return variable, nil },
	}
	var err error
	if c.words, err = expand.Fields(config, call.Args...); err != nil {
		p.Errorf("the words of a command: %v", err)
	}
	for _, redirection := range statement.Redirs {
		if redirection.Hdoc == nil {
			continue
		}
		if c.input, err = expand.Document(config, redirection.Hdoc); err != nil {
			p.Errorf("the input of %q: %v", c.words, err)
		}
	}
	return c
}

// valueOf is what every variable has in place of its value, but the one that says where words end.
func valueOf(name string) string {
	if name == "IFS" {
		return " \t\n"
	}
	return variable
}

// command judges one command by the program that it calls.
func (p *page) command(c command) {
	p.Helper()
	switch program := c.words[0]; {
	case program == "kubectl" && len(c.words) > 1 && c.words[1] == "etcd":
		p.plugin(c.words[2:])
	case program == "kubectl":
		p.kubectl(c)
	case program == "etcdctl", program == "etcdutl":
		p.knows(program, c.words[1:])
	case program == "helm":
		p.helm(c.words[1:])
	case program == "make":
		p.make(c.words[1:])
	case program == "go":
		p.goCommand(c.words[1:])
	case slices.Contains(everyday, program):
	default:
		p.needs(program, strings.Join(c.words, " "))
	}
	if slices.ContainsFunc(c.words, func(word string) bool { return strings.HasPrefix(word, "https://github.com/") }) {
		p.needs("GitHub", strings.Join(c.words, " "))
	}
}

// plugin judges a command of kubectl's plugin, and what it passes on to etcdctl.
func (p *page) plugin(words []string) {
	p.Helper()
	p.knows("kubectl etcd", words)
	if _, behind, found := cutAtDashes(words); found {
		p.knows("etcdctl", behind)
	}
}

func cutAtDashes(words []string) (before, behind []string, found bool) {
	i := slices.Index(words, "--")
	if i < 0 {
		return words, nil, false
	}
	return words[:i], words[i+1:], true
}

// make wants the variables that are set to be ones that the makefiles use, and the mark to say so if a target needs docker.
// TestDocumentTargets looks at the targets.
func (p *page) make(words []string) {
	p.Helper()
	for _, word := range words {
		if name, _, found := strings.Cut(word, "="); found && !regexp.MustCompile(`\$[({]`+name+`\b`).MatchString(p.makefiles) {
			p.Errorf("no makefile uses %s", name)
		}
		if strings.Contains(p.recipe(word), "$(CONTAINER_TOOL)") {
			p.needs("docker", "make "+word)
		}
	}
}

// recipe is what make runs for a target, empty for a word that is none.
func (p *page) recipe(target string) string {
	_, behind, _ := strings.Cut(p.makefiles, "\n"+target+": ##")
	recipe, _, _ := strings.Cut(behind, "\n\n")
	return recipe
}

// helm wants Helm to know the command, and the chart the values.
func (p *page) helm(words []string) {
	p.Helper()
	call := parse(words, p.flags(p.knows("helm", words)))
	for _, set := range slices.Concat(call.flags["set"], call.flags["set-string"]) {
		for pair := range strings.SplitSeq(set, ",") {
			name, _, _ := strings.Cut(pair, "=")
			name, _, _ = strings.Cut(name, "[")
			var at any = p.values
			for part := range strings.SplitSeq(name, ".") {
				fields, _ := at.(map[string]any)
				var found bool
				if at, found = fields[part]; !found {
					p.Errorf("the chart has no value %s", name)
				}
			}
		}
	}
}

var (
	inFolder = regexp.MustCompile("From `([^`]+)`")
	goTest   = regexp.MustCompile(`^\W*(Test\w+)`)
)

// goCommand wants the package of go run and go test to be there, with the test and the flags of its own.
func (p *page) goCommand(words []string) {
	p.Helper()
	if !slices.Contains([]string{"run", "test"}, words[0]) {
		return
	}
	folder := "."
	if from := inFolder.FindStringSubmatch(p.text); from != nil {
		folder = from[1]
	}
	for i, word := range words {
		switch {
		case i > 0 && words[i-1] == "-C":
			folder = path.Join(folder, word)
		case word == "." || strings.HasPrefix(word, "./"):
			p.goPackage(path.Join(folder, strings.TrimSuffix(word, "/...")), words[0], words[i+1:])
			return
		}
	}
	p.Errorf("go %s names no package", strings.Join(words, " "))
}

func (p *page) goPackage(folder, verb string, behind []string) {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil || len(files) == 0 {
		p.Errorf("%s is no Go package: %v", folder, err)
		return
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			p.Fatal(err)
		}
		source.Write(text)
	}
	for i, word := range behind {
		name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case verb == "run" && folder == "hack/tool":
			p.exists("hack/tools", strings.Split(word, "/")[0])
		case verb == "run" && i == 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(word), verb == "test" && slices.Contains([]string{"dump", "state", "update"}, name):
			if !regexp.MustCompile(`"` + name + `[" ]`).MatchString(source.String()) {
				p.Errorf("%s has no %s", folder, name)
			}
		case name == "run" || i > 0 && behind[i-1] == "-run":
			if !assigned {
				value = word
			}
			if test := goTest.FindStringSubmatch(strings.Trim(value, "'")); test != nil && !strings.Contains(source.String(), "func "+test[1]+"(") {
				p.Errorf("%s has no test %s", folder, test[1])
			}
		}
	}
}

// exists wants a file to be in a folder of the source tree.
func (p *page) exists(folder, name string) {
	p.Helper()
	if _, err := os.Stat(filepath.Join(root, folder, name)); err != nil {
		p.Errorf("there is no %s", path.Join(folder, name))
	}
}
