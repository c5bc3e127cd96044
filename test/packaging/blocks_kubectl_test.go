package packaging

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// typed are the commands of kubectl whose first word is a type, or a type and a name.
var typed = []string{"annotate", "delete", "describe", "get", "label", "patch", "rollout status", "scale", "set selector", "wait"}

// named are those that may have a type before the name of a pod or what leads to one.
var named = []string{"exec", "logs", "port-forward"}

// kubectl wants kubectl to know a command, and an API server what it is about.
func (p *page) kubectl(c command) {
	p.Helper()
	help := p.knows("kubectl", c.words[1:])
	parsed := parse(c.words[1:], p.flags(help))
	verb := subcommand("kubectl", help)
	if len(verb) > len(parsed.words) {
		return // it does not know that
	}
	args, does := parsed.words[len(verb):], strings.Join(verb, " ")
	var kinds []schema.GroupVersionKind
	switch {
	case slices.Contains(typed, does) && len(args) > 0:
		kinds, args = p.types(args)
	case slices.Contains(named, does) && len(args) > 0 && strings.Contains(args[0], "/"):
		kinds, args = p.types(args)
	}
	p.files(parsed)
	p.labels(parsed.flags["selector"])
	for _, kind := range kinds {
		p.fields(kind, parsed.flags["output"])
		p.conditions(kind, parsed.flags["for"])
		switch does {
		case "patch":
			p.patch(kind, parsed.flags)
		case "annotate":
			p.annotations(args)
		case "set selector":
			p.labels(args[1:])
		}
	}
	if c.input != "" {
		p.manifests(c.input)
	}
	if _, behind, found := cutAtDashes(c.words); found {
		p.command(command{words: behind})
	}
}

// types gives the kinds that the first words are about, and the words behind them.
func (p *page) types(args []string) (kinds []schema.GroupVersionKind, rest []string) {
	p.Helper()
	add := func(name string) schema.GroupVersionKind {
		kind, found := p.kinds[name]
		if found {
			kinds = append(kinds, kind)
		} else if name != variable {
			p.Errorf("kubectl knows no %q", name)
		}
		return kind
	}
	if !strings.Contains(args[0], "/") {
		for name := range strings.SplitSeq(args[0], ",") {
			add(name)
		}
		rest = args[1:]
	}
	for i, arg := range args {
		if name, object, found := strings.Cut(arg, "/"); found && len(rest) == 0 && !strings.Contains(arg, "=") {
			add(name)
			args[i] = object
		}
	}
	if len(rest) == 0 {
		rest = args
	}
	for _, name := range rest {
		p.installed(name)
	}
	return kinds, rest
}

var shipped = regexp.MustCompile(`^etcd-operator-[a-z-]+$`)

// installed wants what has such a name to be there: one that the operator is installed with, or makes, or that the document has.
func (p *page) installed(name string) {
	p.Helper()
	if !shipped.MatchString(name) && !strings.HasSuffix(name, "."+v1beta2.GroupVersion.Group) {
		return
	}
	if !p.names[name] && !strings.Contains(p.sources, `"`+name+`"`) && !strings.Contains(p.text, "name: "+name+",") {
		p.Errorf("nothing is called %s", name)
	}
}

// files wants what kubectl is to read to be in the source tree, made by make, or what the reader has saved.
func (p *page) files(c call) {
	p.Helper()
	for _, folder := range c.flags["kustomize"] {
		p.exists(folder, "kustomization.yaml")
	}
	for _, file := range slices.Concat(c.flags["filename"], c.flags["patch-file"]) {
		_, err := os.Stat(filepath.Join(root, file))
		switch {
		case err == nil, file == "-", strings.Contains(file, "://"), strings.Contains(p.text, "as `"+file+"`"):
		case path.Dir(file) == "dist" && strings.Contains(p.makefiles, path.Base(file)):
		default:
			p.Errorf("there is no file %s, and nobody is told to save or make it", file)
		}
	}
}

// labels wants those of this project to be some that it gives.
func (p *page) labels(selectors []string) {
	p.Helper()
	for _, selector := range selectors {
		for pair := range strings.SplitSeq(selector, ",") {
			key, _, _ := strings.Cut(strings.TrimPrefix(pair, "!"), "=")
			if strings.HasPrefix(key, "operators.coreos.com/") || key == "app" {
				continue
			}
			if !strings.Contains(p.sources, key) {
				p.Errorf("nothing has the label %s", key)
			}
		}
	}
}

var anyCondition = regexp.MustCompile(`(?m)^\tCondition\w+ = "(\w+)"$`)

// conditions wants what is waited for to be among the conditions of this API.
func (p *page) conditions(kind schema.GroupVersionKind, waited []string) {
	p.Helper()
	for _, what := range waited {
		condition, found := strings.CutPrefix(what, "condition=")
		if condition, _, _ = strings.Cut(condition, "="); found && ours(kind) {
			p.condition(condition)
		}
	}
}

func (p *page) condition(name string) {
	p.Helper()
	for _, m := range anyCondition.FindAllStringSubmatch(p.sources, -1) {
		if m[1] == name {
			return
		}
	}
	p.Errorf("nothing has a condition %s", name)
}

// annotations wants those of this API to be some that the operator reads.
func (p *page) annotations(words []string) {
	p.Helper()
	for _, word := range words {
		key, _, found := strings.Cut(word, "=")
		if found && strings.HasPrefix(key, v1beta2.GroupVersion.Group) &&
			!slices.Contains([]string{v1beta2.AnnotationRotate, v1beta2.AnnotationRecover, v1beta2.AnnotationLogObserved}, key) {
			p.Errorf("the operator reads no %s", key)
		}
	}
}

// patch has an API server judge what becomes of an object of this API, and the type what becomes of another.
func (p *page) patch(kind schema.GroupVersionKind, flags map[string][]string) {
	p.Helper()
	for _, text := range flags["patch"] {
		text = filled(text)
		how := map[string]types.PatchType{"merge": types.MergePatchType, "json": types.JSONPatchType}[strings.Join(flags["type"], "")]
		if how == "" {
			p.Errorf("the type of the patch is %q", flags["type"])
			continue
		}
		if !ours(kind) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
				p.Errorf("the patch is no JSON: %v", err)
			}
			object.SetGroupVersionKind(kind)
			p.typed(object)
			continue
		}
		object := of(kind.Kind, smallest[kind.Kind])
		if err := p.client.Create(p.Context(), object); err != nil {
			p.Fatal(err)
		}
		patch, err := client.RawPatch(how, []byte(text)), error(nil)
		if slices.Contains(flags["subresource"], "status") {
			err = p.client.Status().Patch(p.Context(), object, patch, client.DryRunAll)
		} else {
			err = p.client.Patch(p.Context(), object, patch, client.DryRunAll)
		}
		if err != nil {
			p.Errorf("an API server refuses this patch: %v", err)
		}
	}
}
