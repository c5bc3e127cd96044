package world

import (
	"strconv"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Notation writes down what an action decides: its kind, its operands and its reason, without the words in which it tells
// of them. Decisions are frozen in it, and states with an action under way are told apart by it, so a name in it stays
// whatever becomes of the names in the code. Operands are separated by single spaces; one that is empty is a dash.
func Notation(a plan.Action) string { //nolint:funlen,gocyclo // a case for each action, and nothing else
	switch act := a.(type) {
	case plan.Idle:
		return note("idle", act.Reason)
	case plan.Wait:
		return note("wait", act.Reason, act.After)
	case plan.Blocked:
		return note("blocked", act.Reason)
	case plan.CommitBootstrap:
		return note("begin", bootstrapOperands(act.Bootstrap)...)
	case plan.CreateRestore:
		return note("create-restore", restoreOperands(act)...)
	case plan.CancelRestore:
		return note("call-off", act.Why.Reason, act.ClusterID)
	case plan.ContinueRestore:
		return note("continue-restore", act.Why.Reason)
	case plan.RecordClusterID:
		return note("latch", act.ClusterID)
	case plan.Adopt:
		return note("adopt", act.ClusterID, act.Volumes)
	case plan.CommitVoters:
		return note("declare-voters", act.Voters)
	case plan.CommitTransport:
		return note("transport", transportOperands(act.Transport)...)
	case plan.UpdatePeerURL:
		return note("peer-url", act.Name, act.ID, act.PeerURL)
	case plan.CreateVolumes:
		return note("create-volumes", act.Incarnation, act.Names)
	case plan.CreatePods:
		return note("create-pods", podOperands(act.Pods)...)
	case plan.WritePermits:
		return note("permit", permitsOperands(act.Permits)...)
	case plan.AddToService:
		return note("serve", act.Pods)
	case plan.RemoveFromService:
		return note("unserve", act.Pod, act.UID)
	case plan.AddLearner:
		return note("add-learner", act.Name, act.PeerURL)
	case plan.Promote:
		return note("promote", act.Name, act.ID)
	case plan.MoveLeader:
		return note("move-leader", act.From, act.To, act.Slow)
	case plan.RemoveMember:
		return note("remove-member", act.Name, act.ID, act.Why)
	case plan.DeletePod:
		return note("delete-pod", act.Name, act.UID, act.Why)
	case plan.DeleteVolume:
		return note("delete-volume", act.Name, act.UID, act.Why)
	case plan.SetMetadata:
		return note("set-metadata", act.Name, act.UID)
	case plan.Resize:
		if act.ToSpec {
			return note("resize", act.Name, act.UID, act.ToSpec)
		}
		return note("resize", act.Name, act.UID)
	case plan.SetImage:
		return note("set-image", act.Name, act.UID, act.Version)
	case plan.Recreate:
		return note("recreate", act.Name, act.UID, act.Version)
	case plan.CorrectMark:
		if act.Made {
			return note("correct-mark", act.Name, act.UID, act.Version, act.Made)
		}
		return note("correct-mark", act.Name, act.UID, act.Version)
	case plan.MarkQuarantined:
		return note("mark-quarantined", act.Name, act.UID, act.Quarantined)
	case plan.Expand:
		return note("expand", act.Names)
	case plan.PrepullImages:
		return note("pull-images", pullOperands(act.Images)...)
	case plan.DeletePrepullPod:
		return note("end-pull", act.Name, act.UID)
	case plan.EnableDowngrade:
		return note("enable-downgrade", act.Version)
	case plan.CancelDowngrade:
		return note("cancel-downgrade", act.Version, act.Snapshot)
	case plan.SetBudget:
		return note("set-budget", act.MinAvailable)
	case plan.Compact:
		return note("compact", int(act.Revision))
	case plan.Defragment:
		return note("defragment", act.ID, act.Name, act.UID, act.Why)
	case plan.CommitTuning:
		return note("commit-tuning", append(tuningOperands(act.Tuned), act.Refused.Version)...)
	case plan.CommitRelocation:
		return note("commit-relocation", act.Name, act.Node, act.Member, act.GivenUp)
	case plan.CommitHibernation:
		return note("commit-hibernation", string(act.Hibernation))
	case plan.Quarantine:
		return note("quarantine", act.Name, act.Member, act.VolumeUID)
	case plan.Disarm:
		return note("disarm", string(act.Kind), act.Member)
	}
	panic("an action without a notation") // the linter knows all of them
}

func restoreOperands(r plan.CreateRestore) []any {
	if r.Survivor == "" {
		return []any{r.Name}
	}
	return []any{r.Name, r.Survivor, r.Plan}
}

func tuningOperands(t plan.Tuned) []any {
	operands := []any{int(t.Quota), int(t.InsteadOf), int(t.Volume), int(t.VolumeInsteadOf)}
	if r := t.Resized; r != (plan.Resized{}) {
		of := r.InsteadOf
		operands = append(operands, int(r.Now.CPU), int(r.Now.Memory), int(r.Before.CPU), int(r.Before.Memory), int(of.Requests.CPU),
			int(of.Requests.Memory), int(of.Limits.CPU), int(of.Limits.Memory), r.GivenUp)
	}
	if p := t.Patch; p != (plan.Patch{}) {
		operands = append(operands, p.Version, p.InsteadOf)
	}
	return operands
}

func bootstrapOperands(b plan.Bootstrap) []any {
	operands := []any{b.Incarnation, b.Token, b.ClusterID, b.Restore, b.Members}
	if b.Recovery {
		operands = append(operands, "recovery")
	}
	for _, s := range b.InitialPods {
		operands = append(operands, "seat", s.Name, s.PodUID, s.VolumeUID)
	}
	return operands
}

func podOperands(pods []plan.NewPod) []any {
	var operands []any
	for _, p := range pods {
		operands = append(operands, p.Name, p.Incarnation, p.Persistent, p.Version, p.FromPreviousSpec, p.Restores)
		if !p.Transport.IsZero() {
			operands = append(operands, transportOperands(p.Transport)...)
		}
		if p.Avoid != (plan.Avoidance{}) {
			operands = append(operands, p.Avoid.Node, p.Avoid.Strictly)
		}
		if p.Permit != nil {
			operands = append(operands, permitOperands(*p.Permit)...)
		}
	}
	return operands
}

func transportOperands(t member.Transport) []any {
	return []any{t.PeerTLS, t.PeerBoth, int(t.PeerPort), t.ClientTLS, t.ClientBoth, t.PeerUntold, t.ClientUntold}
}

func permitsOperands(permits []plan.PodPermit) []any {
	var operands []any
	for _, p := range permits {
		operands = append(append(operands, p.Pod, p.UID), permitOperands(p.Permit)...)
	}
	return operands
}

func permitOperands(p member.Permit) []any {
	return []any{string(p.Mode), uint64(p.ClusterID), uint64(p.MemberID), p.InitialCluster, p.Token, p.PodUID, p.Attempt}
}

func pullOperands(pulls []plan.NodeImage) []any {
	var operands []any
	for _, p := range pulls {
		operands = append(operands, p.Node, p.Image)
	}
	return operands
}

// note joins a kind and its operands.
func note(kind string, operands ...any) string {
	text := make([]byte, 0, 64)
	text = append(text, kind...)
	for _, operand := range operands {
		switch v := operand.(type) {
		case string:
			text = operandText(text, v)
		case []string:
			text = operandText(text, v...)
		case int:
			text = strconv.AppendInt(append(text, ' '), int64(v), 10)
		case uint64:
			text = strconv.AppendUint(append(text, ' '), v, 16)
		case bool:
			text = strconv.AppendBool(append(text, ' '), v)
		case time.Duration:
			text = operandText(text, v.String())
		}
	}
	return string(text)
}

func operandText(text []byte, operands ...string) []byte {
	for _, operand := range operands {
		if operand == "" {
			operand = "-"
		}
		text = append(append(text, ' '), operand...)
	}
	return text
}

// operandOf reports whether something is an operand in a notation.
func operandOf(notation, operand string) bool {
	return strings.Contains(notation+" ", " "+operand+" ")
}
