package node

import (
	"slices"
	"testing"
)

func TestSameImage(t *testing.T) {
	const list = `REF                         TYPE    DIGEST      SIZE     PLATFORMS   LABELS
quay.io/coreos/etcd:v3.6.16 type/v1 sha256:aaa  21.4 MiB linux/amd64 managed
quay.io/coreos/etcd:v3.7.3  type/v1 sha256:bbb  21.4 MiB linux/amd64 managed
quay.io/coreos/etcd@sha256:aaa type/v1 sha256:aaa 21.4 MiB linux/amd64 managed
sha256:ccc                  type/v1 sha256:aaa  21.4 MiB linux/amd64 managed
`
	for full, want := range map[string][]string{
		"quay.io/coreos/etcd:v3.6.16": {
			"quay.io/coreos/etcd:v3.6.16", "quay.io/coreos/etcd@sha256:aaa", "sha256:ccc",
		},
		"quay.io/coreos/etcd:v3.7.3": {"quay.io/coreos/etcd:v3.7.3"},
		"quay.io/coreos/etcd:v3.5.0": nil,
	} {
		if got := sameImage(list, full); !slices.Equal(got, want) {
			t.Errorf("the names of %s are %v, want %v", full, got, want)
		}
	}
}
