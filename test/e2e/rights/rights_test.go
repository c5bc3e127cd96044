package rights

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

// logs are what a kube-apiserver 1.36 has written in the lab's audit policy, in two files: the operator applied Service one, which was
// not there, read another one, resized a pod that is not there, watched all pods, read Secret s and deleted Service one, which it may
// not, created a pod that is not valid, and asked which APIs there are. The server was killed at the end of the first line of the
// second file, and another one wrote its first line behind that. Beside all that, another user read a ConfigMap.
func logs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/audit*.log")
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v", files, err)
	}
	return files
}

func verbs(namespace, resource string, verbs ...string) (all []Grant) {
	for _, v := range verbs {
		all = append(all, Grant{Namespace: namespace, Verb: v, Resource: resource})
	}
	return all
}

// TestAccount compares sample logs with rights that they prove, that they do not, and that are missing.
func TestAccount(t *testing.T) {
	proved := slices.Concat(verbs("", "services", "create", "get", "patch"), verbs("", "pods", "create", "watch"), verbs("", "pods/resize", "patch"))
	l, err := Account(slices.Concat(proved, verbs("", "pods", "delete")), logs(t), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"asks for more than it may, 1 times: delete services in default",
		"asks for more than it may, 1 times: get secrets in default",
		"may and never does: delete pods",
	}
	if got := l.Wrongs(true, nil); !slices.Equal(got, want) {
		t.Errorf("got %q\nof\n%s", got, l)
	}
	if got := l.Wrongs(false, nil); !slices.Equal(got, want[:2]) {
		t.Errorf("of some stories: got %q", got)
	}
	excused := []Excuse{{Right: "delete pods", Because: "of this test"}}
	if got := l.Wrongs(true, excused); !slices.Equal(got, want[:2]) {
		t.Errorf("excused: got %q", got)
	}
	excused[0].Right = "delete nodes"
	if got := l.Wrongs(true, excused); !slices.Contains(got, "is excused for a right that it does not have: delete nodes") {
		t.Errorf("excused of another: got %q", got)
	}
}

// TestAccountSince leaves out what was before, which is all.
func TestAccountSince(t *testing.T) {
	l, err := Account(verbs("", "pods", "watch"), logs(t), time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC))
	if got := l.Wrongs(true, nil); err != nil || !slices.Equal(got, []string{"may and never does: watch pods"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Account(nil, nil, time.Time{}); err == nil {
		t.Error("no log is no error")
	}
}

// TestOutside finds the requests that were about all namespaces, and takes none at all for no proof.
func TestOutside(t *testing.T) {
	outside, err := Outside(logs(t), time.Time{}, "default")
	if err != nil || !slices.Equal(outside, verbs("", "pods", "watch", "watch")) {
		t.Errorf("got %v, %v", outside, err)
	}
	if _, err := Outside(logs(t), time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), "default"); err == nil {
		t.Error("no request is no error")
	}
}

// TestNarrowest wants what a Role grants in one namespace not to be a reason for a ClusterRole.
func TestNarrowest(t *testing.T) {
	everywhere := Grant{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Name: "one"}
	here := Grant{Namespace: "operator", Verb: "get", Group: "coordination.k8s.io", Resource: "leases"}
	l := NewLedger([]Grant{everywhere, here})
	own := everywhere
	own.Namespace = "operator"
	l.Enter(time.Now(), []Grant{own}, true)
	if got := l.Wrongs(true, nil); !slices.Equal(got, []string{"may and never does: get leases.coordination.k8s.io one"}) {
		t.Errorf("got %q", got)
	}
	other := own
	other.Namespace = "elsewhere"
	l.Enter(time.Now(), []Grant{other}, true)
	if got := l.Wrongs(true, nil); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	other.Name = "another"
	l.Enter(time.Now(), []Grant{other}, false)
	if got := l.Wrongs(false, nil); len(got) != 1 || !strings.HasPrefix(got[0], "asks for more") {
		t.Errorf("got %q", got)
	}
}

// TestRefusedForAWhile lets an API server start, twice, and then takes a right away.
func TestRefusedForAWhile(t *testing.T) {
	granted := verbs("", "pods", "list")
	asked := verbs("shop", "pods", "list")
	l, now := NewLedger(granted), time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	for range 2 {
		for range 10 {
			now = now.Add(time.Second)
			l.Enter(now, asked, false)
		}
		now = now.Add(time.Minute)
	}
	l.Enter(now, asked, true)
	if got := l.Wrongs(true, nil); len(got) > 0 {
		t.Errorf("an API server that starts: got %q", got)
	}
	for range 4 {
		l.Enter(now, asked, false)
		now = now.Add(10 * time.Second)
	}
	want := []string{"was refused what its role grants, for 30s, until 06:02:50: list pods in shop"}
	if got := l.Wrongs(true, nil); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	l.Forgive(verbs("", "pods", "watch"))
	if got := l.Wrongs(true, nil); !slices.Equal(got, want) {
		t.Errorf("with another right forgiven: got %q", got)
	}
	l.Forgive(granted)
	if got := l.Wrongs(true, nil); len(got) > 0 {
		t.Errorf("forgiven: got %q", got)
	}
}

// TestGranted reads what roles give a ServiceAccount, and no other.
func TestGranted(t *testing.T) {
	other := account
	other.Namespace = "beside-system"
	subject := func(namespace string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account.Name}}
	}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods", "pods/resize"}, Verbs: []string{"get", "patch"}}}
	lease := []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"one"}, Verbs: []string{"get"},
	}}
	c := fake.NewClientBuilder().WithObjects(
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Rules: rules},
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "some"}, Rules: lease},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "all"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "all"}, Subjects: subject(account.Namespace),
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "some"},
			RoleRef:    rbacv1.RoleRef{Kind: "Role", Name: "some"}, Subjects: subject(account.Namespace),
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"},
			RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: "all"}, Subjects: subject(other.Namespace),
		},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
	).Build()
	granted, err := Operators(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range granted {
		got = append(got, g.String())
	}
	want := []string{"get leases.coordination.k8s.io one in shop", "get pods", "patch pods", "get pods/resize", "patch pods/resize"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestExcused wants every excuse to be for a right that the roles of config/rbac give, and to say who uses it.
func TestExcused(t *testing.T) {
	var granted []Grant
	for _, file := range []string{"role.yaml", "leader_election_role.yaml", "metrics_auth_role.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../../config/rbac", file))
		if err != nil {
			t.Fatal(err)
		}
		role := &rbacv1.ClusterRole{}
		if err := yaml.Unmarshal(text, role); err != nil {
			t.Fatal(err)
		}
		granted = append(granted, grants("", role.Rules)...)
	}
	for _, e := range Excused() {
		if !slices.ContainsFunc(granted, e.of) || len(e.Because) < 20 {
			t.Errorf("%q (%s)", e.Right, e.Because)
		}
	}
}
