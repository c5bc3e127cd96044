package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

func (a Compact) describe() Description {
	return Description{"Compact", v1beta2.ReasonMakingRoom, fmt.Sprintf("compacting the history of keys up to revision %d", a.Revision)}
}

func (a Defragment) describe() Description {
	return Description{"Defragment", a.Why, fmt.Sprintf("defragmenting %s, of whose database %s or more are free: it is expected to pause for %s",
		a.Name, failure.Mebibytes(a.Free), a.Pause)}
}

func (a Quarantine) describe() Description {
	message := fmt.Sprintf("the data of %s (%016x) differs from what a majority of the voters agrees on: it is replaced", a.Name, a.Member)
	if a.VolumeUID != "" {
		message += ", and its volume is kept"
	}
	return Description{"Quarantine", v1beta2.ReasonDivergedMember, message}
}

func (a Disarm) describe() Description {
	reason, why := v1beta2.ReasonDivergedMember, ""
	if a.Kind == AlarmNoSpace {
		reason, why = v1beta2.ReasonMakingRoom, ": every member has room again"
	}
	return Description{"Disarm", reason, fmt.Sprintf("disarming the alarm %s of %s%s", a.Kind, a.Name, why)}
}

func (a MarkQuarantined) describe() Description {
	text := "marking volume " + a.Name + " as that of a quarantined member"
	if !a.Quarantined {
		text = "taking the mark of a quarantined member off volume " + a.Name
	}
	return Description{"MarkQuarantined", v1beta2.ReasonDivergedMember, text}
}
