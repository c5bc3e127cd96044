package world

// pastRevision is what the cluster had reached five minutes ago.
const pastRevision = 1

// aging is whether the operator knows how old history is.
var aging = map[Kind]transition{
	operatorStarts: {
		name:    "another process of the operator starts",
		ifWorld: func(w *World) bool { return w.piloted() && w.undisturbed() && !w.Ageless },
		onWorld: func(w *World) {
			w.Ageless = true
			w.startAnew()
		},
	},
	historyAges: {
		name:    "the operator has run for five minutes",
		ifWorld: func(w *World) bool { return w.Ageless },
		onWorld: func(w *World) { w.Ageless = false },
	},
}

// AgeFaults are processes of the operator that start, and sooner or later know how old history is.
var AgeFaults = []Kind{operatorStarts, historyAges}

// startAnew is what becomes of the operator's memory when it ends.
func (w *World) startAnew() {
	w.forgetDatabases()
	w.forgetComparisons()
	w.Tried = nil
}

// pastRevision is the revision that is known to be old, 0 if none is.
func (w *World) pastRevision() int64 {
	if w.Ageless {
		return 0
	}
	return pastRevision
}

// checkHistory is for what takes history for old, or for young, while nobody knows.
func (w *World) checkHistory(what string) {
	if w.Ageless {
		w.violate("R: %s whose age is not known", what)
	}
}
