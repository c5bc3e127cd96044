package etcdcluster

import (
	"fmt"
	"strconv"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return 0
	}
	return n
}

// timeOf reads a time as an annotation holds it; what is none is long ago.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// parseID reads an ID as status and annotations hold it; 0 is no ID.
func parseID(text string) uint64 {
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0
	}
	return id
}

func formatID(id uint64) string { return fmt.Sprintf("%016x", id) }

// permitOf reads a permit as its annotation holds it, nil for none.
func permitOf(annotation string) *member.Permit {
	p, err := member.ParsePermit(annotation)
	if annotation == "" || err != nil {
		return nil
	}
	return p
}

func bootstrapOf(s *v1beta2.BootstrapStatus) *plan.Bootstrap {
	if s == nil {
		return nil
	}
	b := &plan.Bootstrap{
		Incarnation: int(s.Incarnation), Token: s.Token, Members: s.Members, ClusterID: parseID(s.ClusterID),
		Restore: s.Restore,
	}
	for _, seat := range s.Seats {
		b.Seats = append(b.Seats, plan.Seat{Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID})
	}
	return b
}

func bootstrapFor(b plan.Bootstrap) *v1beta2.BootstrapStatus {
	s := &v1beta2.BootstrapStatus{
		Incarnation: int32(b.Incarnation), //nolint:gosec // counts attempts from 1
		Token:       b.Token, Members: b.Members, ClusterID: formatID(b.ClusterID), Restore: b.Restore,
	}
	for _, seat := range b.Seats {
		s.Seats = append(s.Seats, v1beta2.BootstrapSeat{
			Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID,
		})
	}
	return s
}
