package soak

// Kind is what an action does.
type Kind string

// Kinds of actions. A fault of a member is one of its process, pod or volume; a fault of a node is one of all members on it.
const (
	KillProcess   Kind = "kill-process"
	FreezeProcess Kind = "freeze-process"
	DeletePod     Kind = "delete-pod"
	DeleteClaim   Kind = "delete-claim"
	WipeVolume    Kind = "wipe-volume"
	CorruptWAL    Kind = "corrupt-wal"
	CorruptDB     Kind = "corrupt-db"
	SlowDisk      Kind = "slow-disk"
	HangDisk      Kind = "hang-disk"
	FillDisk      Kind = "fill-disk"

	KillNode    Kind = "kill-node"
	StopNode    Kind = "stop-node"
	IsolateNode Kind = "isolate-node"
	CutNode     Kind = "cut-node"
	MuteNode    Kind = "mute-node"
	DeafenNode  Kind = "deafen-node"
	SlowLink    Kind = "slow-link"
	DrainNode   Kind = "drain-node"
	RemoveImage Kind = "remove-image"

	KillOperator   Kind = "kill-operator"
	FreezeOperator Kind = "freeze-operator"
	StopAPIServer  Kind = "stop-api-server"
	ClockForward   Kind = "clock-forward"
	ClockBack      Kind = "clock-back"

	Resize  Kind = "resize"
	Roll    Kind = "roll"
	Upgrade Kind = "upgrade"

	RefusePods    Kind = "refuse-pods"
	RefuseChanges Kind = "refuse-changes"

	Backup        Kind = "backup"
	Restore       Kind = "restore"
	StopStorage   Kind = "stop-storage"
	FreezeStorage Kind = "freeze-storage"
	CutStorage    Kind = "cut-storage"
	FillStorage   Kind = "fill-storage"
	SealStorage   Kind = "seal-storage"
)

// Storage is what members keep their data on.
type Storage string

// Storages.
const (
	// EmptyDirs are lost with the pod.
	EmptyDirs Storage = "emptyDirs"
	// Volumes are claims of the default class.
	Volumes Storage = "volumes"
	// Disks are claims of the class whose volumes can be slow or full.
	Disks Storage = "disks"
)

// scope is what an action is done to.
type scope int

const (
	toMember scope = iota + 1
	toNode
	toOperator
	toAPI
	toClock
	toSpec
	toAdmission
	toBackups
	toStore
)

// trait is what must be known of a kind to choose it.
type trait struct {
	kind  Kind
	scope scope
	// on lists the storages that it can be done to; nil is all of them.
	on []Storage
	// loses lists the storages on which it takes the data of those that it is done to.
	loses []Storage
}

var (
	claims  = []Storage{Volumes, Disks}
	dirs    = []Storage{EmptyDirs}
	onDisks = []Storage{Disks}
)

// traits are those of all kinds. Their order is part of what a seed means.
var traits = []trait{
	{kind: KillProcess, scope: toMember},
	{kind: FreezeProcess, scope: toMember},
	{kind: DeletePod, scope: toMember, loses: dirs},
	{kind: DeleteClaim, scope: toMember, on: claims, loses: claims},
	{kind: WipeVolume, scope: toMember, on: claims, loses: claims},
	{kind: CorruptWAL, scope: toMember, on: claims, loses: claims},
	{kind: CorruptDB, scope: toMember, on: claims, loses: claims},
	{kind: SlowDisk, scope: toMember, on: onDisks},
	{kind: HangDisk, scope: toMember, on: onDisks},
	{kind: FillDisk, scope: toMember, on: onDisks},
	// A node that is silent for long loses its pods, and with them their emptyDirs.
	{kind: KillNode, scope: toNode, loses: dirs},
	{kind: StopNode, scope: toNode, loses: dirs},
	{kind: IsolateNode, scope: toNode, loses: dirs},
	{kind: DrainNode, scope: toNode, loses: dirs},
	{kind: CutNode, scope: toNode},
	{kind: MuteNode, scope: toNode},
	{kind: DeafenNode, scope: toNode},
	{kind: SlowLink, scope: toNode},
	{kind: RemoveImage, scope: toNode},
	{kind: KillOperator, scope: toOperator},
	{kind: FreezeOperator, scope: toOperator},
	{kind: StopAPIServer, scope: toAPI},
	{kind: ClockForward, scope: toClock},
	{kind: ClockBack, scope: toClock},
	{kind: Resize, scope: toSpec},
	{kind: Roll, scope: toSpec},
	{kind: Upgrade, scope: toSpec},
	{kind: RefusePods, scope: toAdmission},
	{kind: RefuseChanges, scope: toAdmission},
	{kind: Backup, scope: toBackups},
	{kind: Restore, scope: toBackups},
	{kind: StopStorage, scope: toStore},
	{kind: FreezeStorage, scope: toStore},
	{kind: CutStorage, scope: toStore},
	{kind: FillStorage, scope: toStore},
	{kind: SealStorage, scope: toStore},
}

func traitOf(kind Kind) trait {
	for _, t := range traits {
		if t.kind == kind {
			return t
		}
	}
	return trait{}
}

func kindsOf(scope scope) (kinds []Kind) {
	for _, t := range traits {
		if t.scope == scope {
			kinds = append(kinds, t.kind)
		}
	}
	return kinds
}
