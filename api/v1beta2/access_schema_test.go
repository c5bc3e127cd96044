package v1beta2_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testUsers asks which EtcdUsers and EtcdRoles are accepted.
func testUsers(t *testing.T, c client.Client) {
	user := map[string]any{"etcdCluster": map[string]any{"name": "c"}, "clientCertificate": map[string]any{}}
	role := map[string]any{"etcdCluster": map[string]any{"name": "c"}}
	permission := func(fields map[string]any) map[string]any {
		fields["type"] = "Read"
		return map[string]any{"spec.permissions": []any{fields}}
	}
	for name, tc := range map[string]struct {
		kind   string
		fields map[string]any
		want   string
	}{
		"by certificate":     {"EtcdUser", nil, ""},
		"by password":        {"EtcdUser", map[string]any{"spec.clientCertificate": nil, "spec.passwordSecretRef": map[string]any{"name": "s"}}, ""},
		"by both":            {"EtcdUser", map[string]any{"spec.passwordSecretRef": map[string]any{"name": "s"}}, "say how the user logs in"},
		"by neither":         {"EtcdUser", map[string]any{"spec.clientCertificate": nil}, "say how the user logs in"},
		"of no cluster":      {"EtcdUser", map[string]any{"spec.etcdCluster": nil}, "spec.etcdCluster: Required"},
		"root":               {"EtcdUser", map[string]any{"spec.name": "root"}, "root is the operator"},
		"root by its object": {"EtcdUser", map[string]any{"metadata.name": "root"}, "root is the operator"},
		"root under another": {"EtcdUser", map[string]any{"metadata.name": "root", "spec.name": "app"}, ""},
		"whoever has the Secret for applications": {"EtcdUser", map[string]any{"spec.name": "client"}, ""},
		"no common name":     {"EtcdUser", map[string]any{"spec.name": "a,O=b"}, "spec.name"},
		"a long common name": {"EtcdUser", map[string]any{"metadata.name": strings.Repeat("a", 65)}, "more than the 64 characters"},
		"a role twice":       {"EtcdUser", map[string]any{"spec.roles": []any{"a", "a"}}, "Duplicate value"},
		"no permission":      {"EtcdRole", nil, ""},
		"the role root":      {"EtcdRole", map[string]any{"metadata.name": "root"}, "root is etcd's own role"},
		"a key":              {"EtcdRole", permission(map[string]any{"key": "/a"}), ""},
		"a range":            {"EtcdRole", permission(map[string]any{"key": "/a", "rangeEnd": "/b"}), ""},
		"a prefix":           {"EtcdRole", permission(map[string]any{"prefix": "/a"}), ""},
		"every key":          {"EtcdRole", permission(map[string]any{"prefix": ""}), ""},
		"no key":             {"EtcdRole", permission(map[string]any{}), "say which keys"},
		"an empty key":       {"EtcdRole", permission(map[string]any{"key": ""}), "spec.permissions[0].key"},
		"two ways":           {"EtcdRole", permission(map[string]any{"key": "/a", "prefix": "/a"}), "say which keys"},
		"an end of a prefix": {"EtcdRole", permission(map[string]any{"prefix": "/a", "rangeEnd": "/b"}), "rangeEnd belongs to key"},
		"an empty range":     {"EtcdRole", permission(map[string]any{"key": "/a", "rangeEnd": "/a"}), "rangeEnd must come after key"},
		"another type":       {"EtcdRole", map[string]any{"spec.permissions": []any{map[string]any{"key": "a", "type": "Watch"}}}, "Unsupported value"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := user
			if tc.kind == "EtcdRole" {
				spec = role
			}
			u := of(tc.kind, "a", spec)
			u = u.DeepCopy()
			set(u, tc.fields)
			check(t, c.Create(t.Context(), u, client.DryRunAll), tc.want)
		})
	}
	for kind, spec := range map[string]map[string]any{"EtcdUser": user, "EtcdRole": role} {
		u := of(kind, "kept", spec).DeepCopy()
		must(t, c.Create(t.Context(), u))
		for field, value := range map[string]any{"spec.name": "other", "spec.etcdCluster.name": "other"} {
			changed := u.DeepCopy()
			set(changed, map[string]any{field: value})
			check(t, c.Update(t.Context(), changed, client.DryRunAll), "cannot be changed: create another "+kind)
		}
		set(u, map[string]any{"metadata.labels": map[string]any{"a": "b"}})
		check(t, c.Update(t.Context(), u), "")
	}
}
