package explain

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// assessment tells each part of it under its name in the source, and at the end those of which there is nothing to tell.
func (out *page) assessment(o plan.Observed, a plan.Assessment) {
	var none []string
	out.parts(reflect.ValueOf(a), "", func(name string, part any) {
		switch text := tell(o, part); text {
		case "":
			none = append(none, name)
		default:
			out.item(2, names, name, text)
		}
	})
	if len(none) > 0 {
		out.item(2, names, "nothing of", list(none))
	}
}

// parts visits every field, those of versions and updates by the names of both.
func (out *page) parts(v reflect.Value, prefix string, visit func(name string, part any)) {
	for i := range v.NumField() {
		name, part := prefix+v.Type().Field(i).Name, v.Field(i)
		switch part.Interface().(type) {
		case plan.Versions, plan.Update, plan.Upkeep, plan.Doubt:
			out.parts(part, name+".", visit)
		default:
			visit(name, part.Interface())
		}
	}
}

// tell is a part of the assessment in words, empty if it is zero.
func tell(o plan.Observed, part any) string {
	switch p := part.(type) {
	case uint64:
		return member(o, p)
	case []string:
		return list(p)
	case []plan.Pod:
		var all []string
		for _, pod := range p {
			all = append(all, pod.Name)
		}
		return list(all)
	case []plan.Alarm:
		var all []string
		for _, alarm := range p {
			all = append(all, string(alarm.Kind)+" of "+member(o, alarm.Member))
		}
		return list(all)
	case []plan.HeldAct:
		var all []string
		for _, h := range p {
			all = append(all, h.Feature+" ("+h.Reason+")")
		}
		return list(all)
	case map[string]plan.Change:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(p)) {
			all = append(all, name+" "+p[name].String())
		}
		return list(all)
	case plan.Member:
		return p.Name
	case plan.Patch:
		return strings.TrimSpace(p.Version + " " + p.Trial.Member)
	case plan.Action:
		return words(p)
	case *plan.Recovery:
		if p == nil {
			return ""
		}
		return "plan " + p.Hash + ": " + p.Message
	case *failure.Problem:
		if p == nil {
			return ""
		}
		return p.Reason + ": " + p.Message
	}
	if reflect.ValueOf(&part).Elem().IsZero() || reflect.ValueOf(part).IsZero() {
		return ""
	}
	return fmt.Sprint(part)
}

// member is the ID as etcd's own tools have it, and whose it is.
func member(o plan.Observed, id uint64) string {
	if id == 0 {
		return ""
	}
	text := fmt.Sprintf("%016x", id)
	for _, m := range o.Etcd.Members {
		if m.ID == id {
			text += ", " + m.Name
		}
	}
	return strings.TrimSpace(text)
}
