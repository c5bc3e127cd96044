package etcd_test

import (
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
)

// TestOneDenies has one member, and then two, of three say that they do not know the operator. A majority is believed.
func TestOneDenies(t *testing.T) {
	t.Parallel()
	for denying, want := range map[int]string{0: "", 1: "", 2: rpctypes.ErrUserEmpty.Error(), 3: rpctypes.ErrUserEmpty.Error()} {
		var all []etcd.Endpoint
		for i, pod := range []string{"m-0", "m-1", "m-2"} {
			l, address := newLiar(t, 1, uint64(i)+1, 1)
			if i < denying {
				l.refusal = rpctypes.ErrGRPCUserEmpty
			}
			all = append(all, etcd.Endpoint{Pod: pod, PodUID: "uid-" + pod, Address: address})
		}
		if got := newPool(t).Observe(t.Context(), t.Name(), nil, voting(1, all), all).Denied(); got != want {
			t.Errorf("%d of 3 deny: %q, want %q", denying, got, want)
		}
	}
}
