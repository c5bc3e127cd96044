package diagnose

import (
	"encoding/json"
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Redacted is what stands in the place of what is left out.
const Redacted = "<redacted>"

// shortest is the length of what is looked for elsewhere after it was left out, in bytes: what is shorter, such as a number, is everywhere.
const shortest = 8

// Values that people give, and in which there may be a password. Of Secrets there are no objects here, and of a reference to one its name.
var (
	// maps have any keys: annotations, etcd's options, what a storage driver is told.
	maps = []string{"annotations", "extraArgs", "volumeAttributes", "options", "data", "stringData", "binaryData"}
	// lists are of strings, and named are lists of names with values.
	lists = []string{"args", "command"}
	named = []string{"env", "etcdEnv", "httpHeaders"}
	// dropped says nothing that is not elsewhere.
	dropped = []string{"managedFields"}
)

// kept are the annotations with values of the operator's own. Others of its may hold a copy of what the spec says.
var kept = []string{
	resources.AnnotationClusterUID, resources.AnnotationVolumeUID, resources.AnnotationClusterID, resources.AnnotationMemberID,
	resources.AnnotationVersion, resources.AnnotationResources, resources.AnnotationTemplate, resources.AnnotationPermitted,
	resources.AnnotationReminded, resources.AnnotationRefreshed, resources.AnnotationTransport, resources.AnnotationRestore,
	resources.AnnotationUnserved, resources.AnnotationImage, resources.AnnotationReplaced,
}

// treeOf is an object as JSON has it, without what may be secret. That is added to secrets, to be left out of all else.
func treeOf(object any, secrets map[string]bool) (any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write an object: %w", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("write an object: %w", err)
	}
	return redactor{secrets}.walk(tree), nil
}

// redactor remembers what it has left out.
type redactor struct{ secrets map[string]bool }

func (r redactor) walk(at any) any {
	switch at := at.(type) {
	case map[string]any:
		for key, value := range at {
			at[key] = r.field(key, value)
		}
		for _, key := range dropped {
			delete(at, key)
		}
	case []any:
		for i := range at {
			at[i] = r.walk(at[i])
		}
	}
	return at
}

func (r redactor) field(key string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if contains(maps, key) {
			for name, one := range value {
				if key != "annotations" || !contains(kept, name) {
					value[name] = r.hide(one)
				}
			}
			return value
		}
	case []any:
		switch {
		case contains(lists, key):
			for i := range value {
				if i > 0 || key != "command" { // the program itself says what runs
					value[i] = r.hide(value[i])
				}
			}
			return value
		case contains(named, key):
			for _, one := range value {
				if pair, ok := one.(map[string]any); ok && pair["value"] != nil {
					pair["value"] = r.hide(pair["value"])
				}
			}
		}
	}
	return r.walk(value)
}

// hide remembers the strings of a value.
func (r redactor) hide(value any) any {
	switch value := value.(type) {
	case string:
		if len(value) >= shortest {
			r.secrets[value] = true
		}
	case map[string]any:
		for _, one := range value {
			r.hide(one)
		}
	case []any:
		for _, one := range value {
			r.hide(one)
		}
	}
	return Redacted
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
