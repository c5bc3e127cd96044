package authentication

import (
	"fmt"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// observed is a cluster whose authentication is on, as asked, after these changes.
func observed(changes ...func(*Observed)) Observed {
	o := Observed{
		Wanted: On, Known: true, Enabled: true, TLS: true, Certified: true, OperatorName: RootUser, Quorum: true, Whole: true,
		ClusterID: "c1", Password: "s/1", Secret: Password{"secret"}, Root: Root{ClusterID: "c1", Password: "s/1"},
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func TestDecideAuthentication(t *testing.T) {
	t.Parallel()
	off := func(o *Observed) { o.Enabled, o.Root = false, Root{} }
	unwanted := func(o *Observed) { o.Wanted = Off }
	missing := &failure.Problem{Reason: v1beta2.ReasonInvalidRootPassword, Message: "missing"}
	for name, c := range map[string]struct {
		o             Observed
		step          Step
		doing, reason string
		record        Root
	}{
		"as asked":                   {o: observed(), record: Root{"c1", "s/1"}},
		"off, and to be on":          {o: observed(off), step: Enable, doing: "switching authentication on", record: Root{"c1", "s/1"}},
		"off, as asked":              {o: observed(off, unwanted)},
		"on, and to be off":          {o: observed(unwanted), step: Disable, doing: "switching authentication off"},
		"on, and nobody asks":        {o: observed(func(o *Observed) { o.Wanted = Unmanaged }), record: Root{"c1", "s/1"}},
		"off, and nobody asks":       {o: observed(off, func(o *Observed) { o.Wanted = Unmanaged })},
		"another password":           {o: observed(func(o *Observed) { o.Password = "s/2" }), step: ChangePassword, doing: "changing", record: Root{"c1", "s/2"}},
		"no password any more":       {o: observed(func(o *Observed) { o.Password = Random }), step: ChangePassword, doing: "changing", record: Root{"c1", Random}},
		"restored":                   {o: observed(func(o *Observed) { o.ClusterID = "c2" }), step: ChangePassword, doing: "changing", record: Root{"c2", "s/1"}},
		"restored, and to be off":    {o: observed(unwanted, func(o *Observed) { o.ClusterID = "c2" }), step: Disable, doing: "switching"},
		"switched on by hand":        {o: observed(func(o *Observed) { o.Root = Root{} }), step: ChangePassword, doing: "changing", record: Root{"c1", "s/1"}},
		"switched off by hand":       {o: observed(func(o *Observed) { o.Enabled = false }), step: Enable, doing: "switching", record: Root{"c1", "s/1"}},
		"no quorum":                  {o: observed(off, func(o *Observed) { o.Quorum = false }), doing: "waiting until the cluster is steady"},
		"no quorum, and to be off":   {o: observed(unwanted, func(o *Observed) { o.Quorum = false }), doing: "waiting until the cluster is steady", record: Root{"c1", "s/1"}},
		"a voter is down":            {o: observed(off, func(o *Observed) { o.Whole = false }), doing: "every voter"},
		"a certificate is refused":   {o: observed(off, func(o *Observed) { o.Certified = false }), doing: "none is being replaced"},
		"one is replaced while on":   {o: observed(func(o *Observed) { o.Certified = false }), record: Root{"c1", "s/1"}},
		"a voter is down, to be off": {o: observed(unwanted, func(o *Observed) { o.Whole = false }), step: Disable, doing: "switching"},
		"a voter is down, password": {
			o: observed(func(o *Observed) { o.Whole, o.Password = false, "s/2" }), step: ChangePassword, doing: "changing", record: Root{"c1", "s/2"},
		},
		"unknown":              {o: observed(func(o *Observed) { o.Known = false }), doing: "until etcd says", record: Root{"c1", "s/1"}},
		"unknown, no quorum":   {o: observed(func(o *Observed) { o.Known, o.Quorum = false, false }), record: Root{"c1", "s/1"}},
		"a plain-text cluster": {o: observed(off, func(o *Observed) { o.TLS, o.OperatorName = false, "" }), reason: v1beta2.ReasonAuthNeedsTLS},
		"another name":         {o: observed(off, func(o *Observed) { o.OperatorName = "operator" }), reason: v1beta2.ReasonOperatorNotRoot},
		"no certificate":       {o: observed(off, func(o *Observed) { o.OperatorName = "" }), reason: v1beta2.ReasonOperatorNotRoot},
		"refused": {
			o: observed(func(o *Observed) { o.Known, o.Denied = false, "permission denied" }), reason: v1beta2.ReasonOperatorNotRoot, record: Root{"c1", "s/1"},
		},
		"refused, and to be off": {
			o: observed(unwanted, func(o *Observed) { o.Denied = "permission denied" }), reason: v1beta2.ReasonOperatorNotRoot, record: Root{"c1", "s/1"},
		},
		"off, and its password is not read": {o: observed(off, func(o *Observed) { o.Secret = Password{} }), doing: "switching authentication on"},
		"another password, not read": {
			o: observed(func(o *Observed) { o.Password, o.Secret = "s/2", Password{} }), doing: "changing", record: Root{"c1", "s/1"},
		},
		"to be off, and nothing is read": {o: observed(unwanted, func(o *Observed) { o.Secret = Password{} }), step: Disable, doing: "switching"},
		"no Secret":                      {o: observed(off, func(o *Observed) { o.Password, o.PasswordProblem = "", missing }), reason: missing.Reason},
		"no Secret any more":             {o: observed(func(o *Observed) { o.Password, o.PasswordProblem = "", missing }), reason: missing.Reason, record: Root{"c1", "s/1"}},
		"no Secret, and to be off":       {o: observed(unwanted, func(o *Observed) { o.PasswordProblem = missing }), step: Disable, doing: "switching"},
	} {
		d := Decide(c.o)
		reason := ""
		if d.Problem != nil {
			reason = d.Problem.Reason
		}
		if d.Step != c.step || !strings.Contains(d.Doing, c.doing) || (d.Doing == "") != (c.doing == "") || reason != c.reason || d.Record != c.record {
			t.Errorf("%s: got %+v, problem %q", name, d, reason)
		}
	}
}

func TestNewPassword(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]string{
		"": "is empty", "x": "", strings.Repeat("x", 72): "", strings.Repeat("x", 73): "has 73 bytes", strings.Repeat("é", 37): "has 74 bytes",
	} {
		p, got := NewPassword([]byte(password))
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") || (p == Password{}) != (want != "") {
			t.Errorf("%q: got %q", password, got)
		}
		if shown := fmt.Sprintf("%v %+v %#v %s", p, p, p, p); password != "" && strings.Contains(shown, password) {
			t.Errorf("it is shown: %s", shown)
		}
	}
}
