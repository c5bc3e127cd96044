package history_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

const limit = 10 * time.Second

func put(value, call, end int64) history.Operation {
	return history.Operation{Kind: history.Put, Value: value, Call: call, Return: end}
}

func get(seen, call, end int64) history.Operation {
	return history.Operation{Kind: history.Get, Seen: seen, Call: call, Return: end}
}

// swap puts a value in the place of 1.
func swap(value, call, end int64) history.Operation {
	return history.Operation{Kind: history.Swap, Old: 1, Value: value, Swapped: true, Call: call, Return: end}
}

func refused(old, value, seen, call, end int64) history.Operation {
	return history.Operation{Kind: history.Swap, Old: old, Value: value, Seen: seen, Call: call, Return: end}
}

func TestCheck(t *testing.T) {
	other := put(9, 30, 40)
	other.Register = 1
	cases := []struct {
		name       string
		operations []history.Operation
		want       history.Verdict
	}{
		{"nothing", nil, history.Linearizable},
		{
			"in order",
			[]history.Operation{get(0, 1, 2), put(1, 3, 4), get(1, 5, 6), swap(2, 7, 8), get(2, 9, 10)},
			history.Linearizable,
		},
		{
			"concurrent writes in either order",
			[]history.Operation{put(1, 1, 9), put(2, 2, 8), get(1, 10, 11)},
			history.Linearizable,
		},
		{"a swap that is refused", []history.Operation{put(1, 1, 2), refused(7, 2, 1, 3, 4)}, history.Linearizable},
		{"registers of their own", []history.Operation{put(1, 10, 20), other, get(1, 50, 60)}, history.Linearizable},
		{
			"a stale read",
			[]history.Operation{put(1, 1, 2), put(2, 3, 4), get(1, 5, 6), get(2, 7, 8)},
			history.NotLinearizable,
		},
		{
			"two swaps of one value",
			[]history.Operation{put(1, 1, 2), swap(2, 3, 6), swap(3, 4, 7)},
			history.NotLinearizable,
		},
		{
			"a swap refused without reason",
			[]history.Operation{put(1, 1, 2), refused(1, 2, 1, 3, 4)},
			history.NotLinearizable,
		},
		{"a value from nowhere", []history.Operation{put(1, 1, 2), get(5, 3, 4)}, history.NotLinearizable},
		{"a write lost", []history.Operation{put(1, 1, 2), put(2, 3, 4), get(2, 5, 6), get(1, 7, 8)}, history.WriteLost},
		{"all lost", []history.Operation{put(1, 1, 2), get(0, 7, 8)}, history.WriteLost},
		{
			"an unknown write that never took effect",
			[]history.Operation{put(1, 1, 2), put(2, 3, 0), get(1, 5, 6)},
			history.Linearizable,
		},
		{
			"an unknown write that took effect later",
			[]history.Operation{put(1, 1, 2), put(2, 3, 0), get(1, 5, 6), get(2, 7, 8)},
			history.Linearizable,
		},
		{
			"an unknown write that took effect and went",
			[]history.Operation{put(1, 1, 2), put(2, 3, 0), get(2, 5, 6), get(1, 7, 8)},
			history.NotLinearizable,
		},
		{
			"an unknown swap that must have swapped",
			[]history.Operation{put(1, 1, 2), {Kind: history.Swap, Old: 1, Value: 2, Call: 3}, get(2, 5, 6)},
			history.Linearizable,
		},
		{
			"a chain of unknown writes",
			[]history.Operation{put(1, 1, 0), {Kind: history.Swap, Old: 1, Value: 2, Call: 2}, get(2, 5, 6)},
			history.Linearizable,
		},
		{"an unknown read", []history.Operation{put(1, 1, 2), get(0, 3, 0)}, history.Linearizable},
		{"seen before it was written", []history.Operation{get(1, 1, 2), put(1, 3, 0)}, history.NotLinearizable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			picture := filepath.Join(t.TempDir(), "history.html")
			got, err := history.Check(history.History{Operations: c.operations}, limit, picture)
			if err != nil || got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
			if _, err := os.Stat(picture); (err == nil) != got.Bad() {
				t.Errorf("%s, and the picture: %v", got, err)
			}
		})
	}
}

func TestFullHistoryIsNotWholeProof(t *testing.T) {
	r := history.NewRecorder(1)
	r.End(r.Begin(put(1, 1, 0)), put(1, 1, 2))
	r.End(r.Begin(put(2, 3, 0)), put(2, 3, 4))
	h := r.History()
	if len(h.Operations) != 1 || h.Operations[0].Return != 2 {
		t.Fatalf("recorded %v", h.Operations)
	}
	if got, err := history.Check(h, limit, ""); err != nil || got != history.Truncated {
		t.Errorf("%s, %v", got, err)
	}
}

// TestUnknownWrites compares, over random small histories, the verdict with the one of a plain model in which a write of
// unknown outcome may take effect at any later moment or never.
func TestUnknownWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	good := 0
	const rounds = 1000
	for range rounds {
		h := someHistory(random)
		want := porcupine.CheckOperations(plain, atAnyTime(h))
		got, err := history.Check(history.History{Operations: h}, limit, filepath.Join(t.TempDir(), "history.html"))
		if err != nil || got.Bad() == want {
			t.Fatalf("%s, %v, and the plain model says %t: %v", got, err, want, h)
		}
		if want {
			good++
		}
	}
	if good < rounds/10 || good > rounds*9/10 {
		t.Errorf("%d of %d histories are good: too few of one kind to compare", good, rounds)
	}
}

func someHistory(random *rand.Rand) []history.Operation {
	var h []history.Operation
	for n := range 2 + random.Int64N(5) {
		call := random.Int64N(20) + 1
		o := history.Operation{Worker: int(n), Call: call, Return: call + 1 + random.Int64N(8), Value: n + 1}
		switch random.IntN(3) {
		case 0:
			o.Kind = history.Put
		case 1:
			o.Kind, o.Value, o.Seen = history.Get, 0, random.Int64N(4)
		default:
			o.Kind, o.Old = history.Swap, random.Int64N(4)
			if o.Swapped = random.IntN(2) == 0; !o.Swapped {
				o.Seen = random.Int64N(4)
			}
		}
		if random.IntN(3) == 0 {
			o.Return, o.Swapped, o.Seen = 0, false, 0
		}
		h = append(h, o)
	}
	return h
}

func atAnyTime(h []history.Operation) []porcupine.Operation {
	var operations []porcupine.Operation
	for _, o := range h {
		end := o.Return
		if end == 0 {
			end = 1 << 40
		}
		operations = append(operations, porcupine.Operation{ClientId: o.Worker, Input: o, Call: o.Call, Return: end})
	}
	return operations
}

var plain = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		o, unknown := input.(history.Operation), input.(history.Operation).Return == 0
		switch {
		case o.Kind == history.Put:
			return true, o.Value
		case o.Kind == history.Get:
			return unknown || state == o.Seen, state
		case unknown && state != o.Old:
			return true, state
		case unknown || o.Swapped:
			return state == o.Old, o.Value
		default:
			return state == o.Seen && o.Seen != o.Old, state
		}
	},
}

func TestOperationsInWords(t *testing.T) {
	for _, c := range []struct {
		operation history.Operation
		want      string
	}{
		{put(1, 1, 2), "put 1"},
		{get(2, 1, 2), "get: 2"},
		{swap(2, 1, 2), "swap 1 for 2"},
		{refused(1, 2, 3, 1, 2), "swap 1 for 2: holds 3"},
	} {
		if got := fmt.Sprint(c.operation); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
