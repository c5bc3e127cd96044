package authentication

import (
	"fmt"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// world is an etcd cluster, what the operator has recorded, what its user asks for, and what others do.
type world struct {
	// enabled and password are etcd's; without a user root the password is empty.
	enabled  bool
	password string
	cluster  string
	record   Root
	wanted   Wanted
	secret   string // empty if there is no usable one
	name     string // of the operator
	down     bool   // one voter of three
	edits    int    // that others may still make
}

// byHand is a password that the operator has not set.
const byHand = "by hand"

func (w world) observe() Observed {
	o := Observed{
		Wanted: w.wanted, Known: true, Enabled: w.enabled, TLS: true, Certified: true, OperatorName: w.name, Quorum: true, Whole: !w.down,
		ClusterID: w.cluster, Password: w.secret, Secret: Password{w.secret}, Root: w.record,
	}
	if w.enabled && w.name != RootUser {
		o.Known, o.Denied = false, "permission denied"
	}
	if w.secret == "" {
		o.PasswordProblem = &failure.Problem{Reason: v1beta2.ReasonInvalidRootPassword}
	}
	return o
}

// effects are the requests of a step, in order; what etcd refuses changes nothing.
func (d Decision) effects(password string) []func(*world) {
	change := func(w *world) {
		if w.password != "" {
			w.password = password
		}
	}
	switch d.Step {
	case Enable:
		return []func(*world){
			func(w *world) {
				if !w.enabled {
					w.password = ""
				}
			},
			func(w *world) { w.password = password },
			func(w *world) { w.enabled = true },
		}
	case ChangePassword:
		return []func(*world){change}
	case Disable:
		return []func(*world){func(w *world) { w.enabled = false }}
	case NoStep:
	}
	return nil
}

// passes are all ways in which a pass may end: after any effect, with or without the record of what it did.
func (w world) passes(decide func(Observed) Decision) (all []world, d Decision) {
	d = decide(w.observe())
	now := w
	for _, effect := range d.effects(w.secret) {
		effect(&now)
		all = append(all, now)
	}
	if d.Step != NoStep {
		now.record = d.Record
		all = append(all, now)
	}
	return all, d
}

// moves are what others do.
func (w world) moves() []world {
	if w.edits == 0 {
		return nil
	}
	var all []world
	add := func(change func(*world)) {
		to := w
		to.edits--
		if change(&to); to != w {
			all = append(all, to)
		}
	}
	for _, wanted := range []Wanted{Unmanaged, On, Off} {
		add(func(to *world) { to.wanted = wanted })
	}
	for _, secret := range []string{"", "s/1", "s/2", Random} {
		add(func(to *world) { to.secret = secret })
	}
	add(func(to *world) { to.down = !to.down })
	if !w.enabled { // while it is on, the operator keeps the former certificate
		add(func(to *world) { to.name = "operator" })
	}
	add(func(to *world) { to.name = RootUser })
	add(func(to *world) { to.enabled, to.password = true, byHand })
	add(func(to *world) { to.enabled = false })
	add(func(to *world) { to.cluster, to.enabled, to.password = "c2", true, byHand }) // restored
	return all
}

// explore visits every world that can be reached, and returns what is wrong with the first that is wrong.
func explore(decide func(Observed) Decision, edits int) (visited int, wrong string) {
	start := world{cluster: "c1", name: RootUser, secret: Random, edits: edits}
	seen, queue := map[world]bool{start: true}, []world{start}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		next, d := w.passes(decide)
		for _, to := range next {
			if why := forbidden(w, to); why != "" {
				return len(seen), fmt.Sprintf("%s: %+v, %s, %+v", why, w, d.Step, to)
			}
		}
		if why := unfinished(w, decide); why != "" {
			return len(seen), fmt.Sprintf("%s: %+v", why, w)
		}
		for _, to := range append(next, w.moves()...) {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return len(seen), ""
}

// forbidden says what a step must not do.
func forbidden(before, after world) string {
	switch {
	case after.enabled && !before.enabled && before.name != RootUser:
		return "the operator has locked itself out"
	case after.enabled && after.password == "":
		return "it is on, and there is no user root"
	case after.enabled != before.enabled && before.wanted == Unmanaged, after.password != before.password && before.wanted != On:
		return "what nobody asked for was changed"
	case after.enabled && !before.enabled && before.down:
		return "it was switched on although one cannot be seen"
	}
	return ""
}

// unfinished says what is not as asked after enough passes in which nobody does anything else.
func unfinished(w world, decide func(Observed) Decision) string {
	const enough = 4
	for range enough {
		next, _ := w.passes(decide)
		if len(next) > 0 {
			w = next[len(next)-1]
		}
	}
	d := decide(w.observe())
	switch {
	case d.Step != NoStep:
		return "it never rests"
	case d.Problem != nil, d.Doing != "", w.wanted == Unmanaged:
		return ""
	case w.enabled != (w.wanted == On):
		return "it is not as asked"
	case w.enabled && w.password != w.secret && w.record != Root{w.cluster, w.secret}:
		return "root has another password"
	case w.enabled && w.password == byHand && w.record.ClusterID != w.cluster:
		return "root has the password of the snapshot"
	}
	return ""
}

// TestExploreAuthentication visits all that can become of four things that others do, with an operator that may end at any moment.
func TestExploreAuthentication(t *testing.T) {
	t.Parallel()
	visited, wrong := explore(Decide, 4)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d worlds", visited)
}

// TestAuthenticationMutants wants the exploration to find every decision that is wrong in one way.
func TestAuthenticationMutants(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Observed){
		"whoever the operator is":               func(o *Observed) { o.OperatorName = RootUser },
		"absent is off":                         func(o *Observed) { o.Wanted = map[Wanted]Wanted{Unmanaged: Off, On: On, Off: Off}[o.Wanted] },
		"while a voter is down":                 func(o *Observed) { o.Whole = true },
		"the password of another cluster":       func(o *Observed) { o.Root.ClusterID = o.ClusterID },
		"a password that never changes":         func(o *Observed) { o.Root.Password = o.Password },
		"without a record":                      func(o *Observed) { o.Root = Root{} },
		"off is never noticed":                  func(o *Observed) { o.Enabled = o.Enabled || o.Wanted == On },
		"a Secret that is missing is no matter": func(o *Observed) { o.PasswordProblem, o.Secret = nil, Password{byHand} },
	} {
		_, wrong := explore(func(o Observed) Decision {
			change(&o)
			return Decide(o)
		}, 3)
		if wrong == "" {
			t.Errorf("%s: not found", name)
		}
	}
}
