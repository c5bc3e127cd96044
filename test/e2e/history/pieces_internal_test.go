package history

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestPieces compares, over random histories, the verdict on as many pieces as there can be with the one on the whole.
func TestPieces(t *testing.T) {
	const rounds = 2000
	random := rand.New(rand.NewPCG(3, 4))
	good, split := 0, 0
	for range rounds {
		h := answered(random)
		want := porcupine.CheckOperations(register(len(h)+1), h)
		if got := porcupine.CheckOperations(register(1), h); got != want {
			t.Fatalf("in pieces it is %t, and as a whole %t: %v", got, want, h)
		}
		if want {
			good++
		}
		if len(pieces(h, 1)) > 2 {
			split++
		}
	}
	if good < rounds/10 || good > rounds*9/10 || split < rounds/2 {
		t.Errorf("of %d histories %d are good, and %d in several pieces: too few of one kind to compare", rounds, good, split)
	}
}

// answered are operations on one register, some at a time, that take effect at one moment each. Half of the histories have one wrong answer.
func answered(random *rand.Rand) (all []porcupine.Operation) {
	const most = 40
	holds, call := int64(0), int64(1)
	for n := range 5 + random.Int64N(most) {
		o := Operation{Worker: int(n), Call: call, Return: call + 1 + random.Int64N(4), Value: n + 1}
		switch random.IntN(3) {
		case 0:
			o.Kind, holds = Put, o.Value
		case 1:
			o.Kind, o.Value, o.Seen = Get, 0, holds
		default:
			if o.Kind, o.Old = Swap, max(0, holds-random.Int64N(2)); o.Old == holds {
				o.Swapped, holds = true, o.Value
			} else {
				o.Seen = holds
			}
		}
		all = append(all, porcupine.Operation{ClientId: o.Worker, Input: o, Call: o.Call, Output: o, Return: o.Return})
		call += 1 + random.Int64N(5)
	}
	if random.IntN(2) == 0 {
		wrong := &all[random.IntN(len(all))]
		o := wrong.Input.(Operation)
		o.Seen, o.Old = random.Int64N(most), random.Int64N(most)
		wrong.Input, wrong.Output = o, o
	}
	return all
}
