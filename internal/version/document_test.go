package version

import "testing"

// TestDocument wants a release to lead to what its own tag has, and any other build to what there is now.
func TestDocument(t *testing.T) {
	const path = "docs/reasons.md"
	for of, at := range map[string]string{
		"v0.1.0": "v0.1.0", "v1.20.3-rc.1": "v1.20.3-rc.1",
		"v0.1.0-5-gabcdef012345": "main", "v0.1.0-dirty": "main", "v1.20.3-rc.1-12-g0123456789ab-dirty": "main",
		"4942febd0000": "main", "dev": "main", "previous": "main", "": "main", "0.1.0": "main", "v0.1": "main",
		"v0.1.0/../../evil": "main",
	} {
		if got, want := documentOf(of, path), "https://github.com/etcdpilot/etcd-operator/blob/"+at+"/"+path; got != want {
			t.Errorf("%q leads to %s, want %s", of, got, want)
		}
	}
	if got := Document(path); got != documentOf(Operator, path) {
		t.Errorf("this program leads to %s", got)
	}
}
