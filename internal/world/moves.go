package world

import (
	"fmt"
	"maps"
)

// Move is one transition.
type Move struct {
	Kind Kind
	// At is the name of the pod or volume that it is about, empty for the operator and the user.
	At string
}

// Kind is what happens.
type Kind int

// Kinds of moves.
const (
	// What is bound to happen.
	impostorGone Kind = iota
	evictionLands
	serverEnds
	podGone
	podStarts
	memberRuns
	publishes
	catchesUp
	volumeGone
	budgetSeen
	containerEnds
	imagePulled
	versionFollows
	resized
	volumeGrown
	snapshotVerified
	cacheFollows
	restoreRefused
	defragmented
	survivorSaved
	recoveryVoided
	// What may happen.
	clientWrites
	userEdits
	podReleased
	nodeRejoins
	refusalEnds
	retried
	networkHeals
	comparedAgain
	nodeReturns
	// The operator.
	passes
	passGoesOn
	passReadsOn
	operatorCrashes
	// What happens once nothing else does.
	timePasses
	nodeTainted
	podCollected
	podUnstuck
	podHeals
	diskAnswers
	alarmDisarmed
	dataRepaired
	awaitedDeleted
	nameFreed
	snapshotRead
	backupVerified
	windowOpens
	historyAges
	trustEnds
	brakeReleased
	modesReturn
	allowedAgain
	forgedGone
	// Faults.
	podKilled
	podEnds
	serverCrashes
	startFails
	podSickens
	nodeDies
	nodeCutOff
	podStuck
	restoreFails
	sourceRemoved
	dataWiped
	podEvicted
	startLate
	endLate
	impostorAnswers
	volumeLost
	volumeDeleted
	leaderMoves
	cacheLags
	passHeld
	passHeldReading
	statusLost
	claimTaken
	podForged
	voterForged
	voterForgedEarly
	voterForgedLate
	resizeInfeasible
	diskSlows
	diskHangs
	alarmRaised
	quotaReached
	fragments
	snapshotBegins
	roomSticks
	keysFill
	patchTested
	backupAges
	windowShuts
	brakeHolds
	modesAdvise
	modesOff
	windowNarrows
	trustGiven
	trustWithdrawn
	operatorStarts
	patchSours
	refusedElsewhere
	diskDrags
	diskRecovers
	loadRises
	loadFalls
	resizeDeferred
	resizesBarred
	loadSwells
	usageUntold
	dataRolledBack
	awaitedFails
	nameTaken
	starves
	mountFails
	networkSplits
	operatorCutOff
	sidecarsEnd
	planConfirmed
	podLingers
	nodeLeaves
	dataDiffers
	dataSplits
	dataAgrees
	statusSetBack
	statusSetBackBound
	diskReplaced
	writesRefused // and one for each class that follows; the same for one object
	writeRefused  = writesRefused + Kind(classes) - 1
	kinds         = writeRefused + Kind(named)
)

const (
	firstFault = podKilled
	lastBound  = recoveryVoided
)

// transition says when a move is possible and what it does. It is about a pod, a volume or the whole world: one pair of
// functions is set.
type transition struct {
	name     string
	ifPod    func(*World, *Pod) bool
	onPod    func(*World, *Pod)
	ifVolume func(*World, *Volume) bool
	onVolume func(*World, *Volume)
	ifWorld  func(*World) bool
	onWorld  func(*World)
}

// transitions are all there are, by Kind.
var transitions = tabulate(surroundings, operators, faults, forgers(), drifting, disks, databases, aging, patching, relocating, using, allowing, differing, starts, placement, recoveries, refusing())

func tabulate(tables ...map[Kind]transition) [kinds]transition {
	var all [kinds]transition
	for _, table := range tables {
		for kind := range maps.Keys(table) {
			all[kind] = table[kind]
		}
	}
	return all
}

// String is for traces.
func (m Move) String() string {
	name := transitions[m.Kind].name
	if m.Kind >= firstFault {
		name = "FAULT " + name
	}
	if m.At == "" {
		return name
	}
	return fmt.Sprintf("%s: %s", name, m.At)
}

// possible adds the moves of that kind which are possible now.
func (w *World) possible(moves []Move, kind Kind) []Move {
	t := &transitions[kind]
	switch {
	case t.ifPod != nil:
		for i := range w.Pods {
			if t.ifPod(w, &w.Pods[i]) {
				moves = append(moves, Move{kind, w.Pods[i].Name})
			}
		}
	case t.ifVolume != nil:
		for i := range w.Volumes {
			if t.ifVolume(w, &w.Volumes[i]) {
				moves = append(moves, Move{kind, w.Volumes[i].Name})
			}
		}
	case t.ifWorld(w):
		moves = append(moves, Move{kind, ""})
	}
	return moves
}

// between lists the possible moves of a range of kinds.
func (w *World) between(first, last Kind) []Move {
	var moves []Move
	for kind := first; kind <= last; kind++ {
		moves = w.possible(moves, kind)
	}
	return moves
}

// bound lists what will happen sooner or later if nothing else does.
func (w *World) bound() []Move { return w.between(impostorGone, lastBound) }

// inTheEnd lists what happens once nothing else does: the operator tries again what was refused, deadlines pass, and then dead nodes are taken out of the cluster.
func (w *World) inTheEnd() []Move {
	if again := w.possible(nil, retried); len(again) > 0 {
		return again
	}
	if late := w.possible(nil, timePasses); len(late) > 0 {
		return late
	}
	last := w.between(nodeTainted, forgedGone)
	for _, kind := range []Kind{refusalEnds, networkHeals, podReleased, nodeRejoins} {
		last = w.possible(last, kind)
	}
	return last
}

// moves lists all that can happen next. The operator's turn is nil while a pass is held up.
func (w *World) moves(s *Scenario, t *turn) []Move {
	moves := w.bound()
	still := len(moves) == 0
	if s.Lockstep && !still {
		moves = moves[:1]
	}
	for kind := clientWrites; kind <= nodeReturns; kind++ {
		moves = w.possible(moves, kind)
	}
	if w.Faults > 0 {
		for _, kind := range s.Kinds {
			moves = w.possible(moves, kind)
		}
	}
	switch {
	case t == nil || t.changes:
		return append(moves, w.between(passes, operatorCrashes)...)
	case still:
		return append(moves, w.inTheEnd()...)
	}
	return moves
}

// Do makes the move.
func (w *World) Do(m Move) {
	if m.Kind >= firstFault {
		w.Faults--
		w.Harmed = w.Harmed || !w.passing(m)
	}
	t := &transitions[m.Kind]
	switch {
	case t.onPod != nil:
		t.onPod(w, w.pod(m.At))
	case t.onVolume != nil:
		t.onVolume(w, w.volume(m.At))
	default:
		t.onWorld(w)
	}
	w.forget()
	w.checkHarm()
	w.checkTransport()
}

// forget drops clusters that nobody can come back to.
func (w *World) forget() {
	w.Etcd.Forget(func(id uint64) bool {
		b := w.Status.Bootstrap
		former := w.Status.Previous
		return id == w.Status.ID || b != nil && id == b.ClusterID || former != nil && id == former.ID
	})
}
