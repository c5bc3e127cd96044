package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// pieceSize is how many operations on a register are checked together at least. With each operation that it puts in order the checker remembers which
// ones it had before: of an hour that is gigabytes.
const pieceSize = 1000

// byRegister are the operations on each register.
func byRegister(all []porcupine.Operation) (parts [][]porcupine.Operation) {
	place := map[int]int{}
	for _, o := range all {
		number := o.Input.(Operation).Register
		if _, known := place[number]; !known {
			place[number] = len(parts)
			parts = append(parts, nil)
		}
		parts[place[number]] = append(parts[place[number]], o)
	}
	return parts
}

// pieces splits the operations on one register after some that are alone, with nothing else under way from their call to their return: the answer says
// what the register holds then, and nothing before it can come after it in any order. So the whole is linearizable if each piece is, where the next one
// begins with a write of that value.
func pieces(operations []porcupine.Operation, size int) (all [][]porcupine.Operation) {
	operations = slices.Clone(operations)
	slices.SortFunc(operations, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var piece []porcupine.Operation
	ended := int64(math.MinInt64) // when all before had
	for i, o := range operations {
		alone := ended < o.Call && (i+1 == len(operations) || o.Return < operations[i+1].Call)
		ended = max(ended, o.Return)
		piece = append(piece, o)
		if alone && len(piece) >= size {
			all = append(all, piece)
			piece = []porcupine.Operation{known(o)}
		}
	}
	return append(all, piece)
}

// known is a write of what the register holds after an operation, in its place.
func known(o porcupine.Operation) porcupine.Operation {
	did := o.Input.(Operation)
	if did.Kind == Get || did.Kind == Swap && !did.Swapped {
		did.Value = did.Seen
	}
	did.Kind = Put
	o.Input, o.Output = did, did
	return o
}
