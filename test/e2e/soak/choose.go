package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Bounds of what is chosen.
const (
	// MaxSize is the largest cluster, in members.
	MaxSize = 5
	// maxActions is the most that is done in one wave.
	maxActions = 5
	// maxGap is the longest time between one action of a wave and the next; minHold and maxHold bound how long all of them last
	// after the last one.
	maxGap  = 6 * time.Second
	minHold = 5 * time.Second
	maxHold = 40 * time.Second
)

// Action is one thing to do.
type Action struct {
	Kind Kind
	// Member is the place, from 0, of the member among all, by name. It means something for faults of members only.
	Member int
	// Node is the place, from 0, of the node among all. It means something for faults of nodes only.
	Node int
	// Size is what a Resize asks for, from 1 to MaxSize.
	Size int
	// Gap is how long to wait before it, from 0 to 6 s.
	Gap time.Duration
}

// String is the action in the words of a log.
func (a Action) String() string {
	switch traitOf(a.Kind).scope {
	case toMember:
		return fmt.Sprintf("%s of member %d", a.Kind, a.Member)
	case toNode:
		return fmt.Sprintf("%s of node %d", a.Kind, a.Node)
	default:
		if a.Kind == Resize {
			return fmt.Sprintf("%s to %d", a.Kind, a.Size)
		}
		return string(a.Kind)
	}
}

// Wave is what is done at once: one action after the other, all of which last until the hold is over.
type Wave struct {
	Actions []Action
	// Hold is how long the faults last after the last action, from 5 to 40 s.
	Hold time.Duration
}

// Member is what a choice has to know of a member.
type Member struct {
	// Node is the place of the member's node among all, from 0.
	Node int
	// Healthy says that it is a voter, is ready, and nothing is done to it.
	Healthy bool
}

// World is what a choice depends on.
type World struct {
	Storage Storage
	Members []Member
	// Nodes is how many there are.
	Nodes int
	// Newest says that the members run the newest release already.
	Newest bool
	// Backups counts the snapshots that there should be.
	Backups int
}

// NewWorld is that of a healthy cluster whose members are spread over the nodes.
func NewWorld(storage Storage, size, nodes int, newest bool) World {
	w := World{Storage: storage, Nodes: nodes, Newest: newest}
	return w.resized(size)
}

func (w World) resized(size int) World {
	w.Members = make([]Member, size)
	for i := range w.Members {
		w.Members[i] = Member{Node: i % w.Nodes, Healthy: true}
	}
	return w
}

// After is the world once a wave is over and the cluster is healthy again.
func (w World) After(wave Wave) World {
	for _, a := range wave.Actions {
		switch a.Kind {
		case Resize:
			w = w.resized(a.Size)
		case Upgrade:
			w.Newest = true
		case Backup:
			w.Backups++
		default:
		}
	}
	return w
}

// Cluster is one to be made.
type Cluster struct {
	Storage Storage
	// Size is from 1 to MaxSize.
	Size int
	// Newest says that it starts with the newest release, not with the default one.
	Newest bool
	// Kubernetes says that the traffic is like that of Kubernetes, not of all kinds of requests.
	Kubernetes bool
}

// String is the cluster in the words of a log.
func (c Cluster) String() string { return fmt.Sprintf("%d on %s", c.Size, c.Storage) }

// NextCluster chooses the cluster of a round. Five rounds have five sizes.
func NextCluster(seed uint64, round int) Cluster {
	sizes := source(seed, -1).Perm(MaxSize)
	random := source(seed, round*wavesOfRound)
	return Cluster{
		Storage: []Storage{EmptyDirs, Volumes, Volumes, Disks}[random.IntN(4)],
		Size:    1 + sizes[round%MaxSize], Newest: random.IntN(2) == 0, Kubernetes: random.IntN(2) == 0,
	}
}

// wavesOfRound is more than a round has: each wave has a source of its own.
const wavesOfRound = 1000

// NextWave chooses what is done in a wave of a round, counted from 1. It depends on its arguments only, and not on what was drawn
// before.
func NextWave(seed uint64, round, wave int, w World) Wave {
	random := source(seed, round*wavesOfRound+wave)
	chosen := Wave{Hold: minHold + time.Duration(random.Int64N(int64(maxHold-minHold)))}
	// Some draws are not allowed: more of them than actions are wanted.
	const draws = 40
	wanted := 1 + random.IntN(maxActions)
	for range draws {
		if len(chosen.Actions) == wanted {
			break
		}
		a := draw(random, w)
		if Allowed(w, chosen.Actions, a) {
			chosen.Actions = append(chosen.Actions, a)
		}
	}
	// Nothing can be asked for while the API server is away.
	slices.SortStableFunc(chosen.Actions, func(a, b Action) int { return late(a) - late(b) })
	return chosen
}

func late(a Action) int {
	if a.Kind == StopAPIServer {
		return 1
	}
	return 0
}

// source is the same for the same numbers.
func source(seed uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(int64(number)))) //nolint:gosec // to be repeated, not to surprise anybody
}

// often has each scope as often as it is drawn: a scope of few kinds is not drawn less for that.
var often = []scope{
	toMember, toMember, toMember, toNode, toNode, toNode, toSpec, toSpec, toBackups, toBackups,
	toOperator, toAPI, toClock, toAdmission, toStore,
}

func draw(random *rand.Rand, w World) Action {
	kinds := kindsOf(often[random.IntN(len(often))])
	return Action{
		Kind: kinds[random.IntN(len(kinds))], Member: random.IntN(len(w.Members)), Node: random.IntN(w.Nodes),
		Size: 1 + random.IntN(MaxSize), Gap: time.Duration(random.Int64N(int64(maxGap))),
	}
}
