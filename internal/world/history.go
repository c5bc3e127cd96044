package world

// pastRevision is what the cluster had reached five minutes ago.
const pastRevision = 1

// aging has the transitions by which the operator loses and regains knowledge of how old history is.
var aging = map[Kind]transition{
	operatorStarts: {
		name:    "another process of the operator starts",
		ifWorld: func(w *World) bool { return w.piloted() && w.undisturbed() && !w.HistoryAgeUnknown },
		onWorld: func(w *World) {
			w.HistoryAgeUnknown = true
			w.startAnew()
		},
	},
	historyAges: {
		name:    "the operator has run for five minutes",
		ifWorld: func(w *World) bool { return w.HistoryAgeUnknown },
		onWorld: func(w *World) { w.HistoryAgeUnknown = false },
	},
}

// AgeFaults are a restart of the operator, after which it does not know how old history is, and the passing of time, after which it does.
var AgeFaults = []Kind{operatorStarts, historyAges}

// startAnew clears what the operator keeps in memory, as a restart does.
func (w *World) startAnew() {
	w.forgetDatabases()
	w.forgetComparisons()
	w.Tried = nil
}

// pastRevision is the revision that is known to be at least five minutes old, 0 if none is.
func (w *World) pastRevision() int64 {
	if w.HistoryAgeUnknown {
		return 0
	}
	return pastRevision
}

// checkHistory reports a violation if a decision relies on the age of history while the operator does not know it.
func (w *World) checkHistory(what string) {
	if w.HistoryAgeUnknown {
		w.violate("R: %s whose age is not known", what)
	}
}
