package world

// What is rarely there has a mark of its own, and is left out where it is not: so the keys of worlds without it stay what
// they were before there was such a thing.
const (
	markLogs = 0xe0 + iota
	markFormerLogs
	markUnnoted
	markMoved
	markLabels
	markResources
	markFixed
	markStorage
	markSpec
	markPod
	markVolume
	markNeighbours
	markGone
	markAlarm
	markUnsaved
	markSaved
	markForgotten
	markFormerSkipped
	markReplaced
	markRefuses
	markTried
	markPartly
	markTriedOn
	markTransport
	markURL
	markFull
	markDatabase
	markRoom
	markApart
	markConfirmed
	markRecovery
	markSurvivor
)

// More of them, before the first: a mark is one byte, and there is none after the last.
const (
	markDiffering = 0xdb + iota
	markEvidence
	markQuarantined
	markTuned
	markKeys
)

// And more, before those.
const (
	markFormerWrong = 0xd0 + iota
	markTunedVolume
	markHibernation
	markRecalled
	markSidecars
)

// And those of what is chosen of a minor release.
const (
	markChosen = 0xd7 + iota
	markTested
	markUnready
	markInTime
)

// And those of its trial.
const (
	markTrial = 0xc0 + iota
	markTrialTimes
	markPodTrial
	markRefused
	markSour
	markNoted
	markTrialCorrupt
)

// And those of what members use, and are to request.
const (
	markLoad = 0xb8 + iota
	markResized
	markAmount
	markBarred
)

// And those of what Auto Pilot may do, and of what it doubts.
const (
	markAllowance = 0xbc + iota
	markDoubt
)

// And those of members that are moved to other nodes.
const (
	markRelocation = 0xc8 + iota
	markGivenUp
	markDrags
	markAvoids
)
