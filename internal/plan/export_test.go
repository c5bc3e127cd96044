package plan

import (
	"reflect"
	"runtime"
	"strings"
)

// places are the rules by their places in the lists, as list/rule: some stand in two.
var places = func() map[*rule]string {
	all := map[*rule]string{}
	for name, list := range map[string][]rule{
		"always": always, "beginning": beginning, "starting": starting, "restoring": restoring, "running": running,
	} {
		for i := range list {
			function := runtime.FuncForPC(reflect.ValueOf(list[i]).Pointer()).Name()
			all[&list[i]] = name + "/" + function[strings.LastIndexByte(function, '.')+1:]
		}
	}
	return all
}()

// DecidedBy is Next, and tells which rule has answered first; empty if none has.
func DecidedBy(o Observed) (Action, string) {
	a, r := newView(o).decide()
	return a, places[r]
}

// Rules are all there are, as DecidedBy names them.
func Rules() []string {
	var all []string
	for _, name := range places {
		all = append(all, name)
	}
	return all
}
