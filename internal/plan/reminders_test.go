package plan

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

func TestReminders(t *testing.T) {
	untold := Pod{
		Name: "c-1", UID: "u", Phase: Running, Permit: &member.Permit{}, Created: now.Add(-time.Hour), PermittedAt: now.Add(-6 * time.Second),
	}
	for _, test := range []struct {
		name   string
		change func(*Observed, *Pod)
		due    int
		next   time.Duration
	}{
		{"due", func(*Observed, *Pod) {}, 1, remindAfter},
		{"not yet", func(_ *Observed, p *Pod) { p.PermittedAt = now.Add(-2 * time.Second) }, 0, 3 * time.Second},
		{"reminded", func(_ *Observed, p *Pod) { p.RemindedAt = now.Add(-time.Second) }, 0, 4 * time.Second},
		{"twice as long", func(_ *Observed, p *Pod) {
			p.PermittedAt, p.RemindedAt = now.Add(-30*time.Second), now.Add(-20*time.Second)
		}, 1, remindAfter},
		{"no permit", func(_ *Observed, p *Pod) { p.Permit = nil }, 0, 0},
		{"created with it", func(_ *Observed, p *Pod) { p.Created = p.PermittedAt }, 0, 0},
		{"the kubelet has looked by itself", func(_ *Observed, p *Pod) { p.PermittedAt = now.Add(-remindLimit - 1) }, 0, 0},
		{"going", func(_ *Observed, p *Pod) { p.Deleting = true }, 0, 0},
		{"etcd has ended", func(_ *Observed, p *Pod) { p.Exit = ExitBadConfig }, 0, 0},
		{"not started", func(_ *Observed, p *Pod) { p.Phase = Pending }, 0, 0},
		{"answers", func(o *Observed, p *Pod) { o.Etcd.Answers = []Answer{{Pod: p.Name, PodUID: p.UID}} }, 0, 0},
		{"its predecessor answers", func(o *Observed, p *Pod) { o.Etcd.Answers = []Answer{{Pod: p.Name, PodUID: "old"}} }, 1, remindAfter},
		{"of a former incarnation", func(o *Observed, _ *Pod) { o.Cluster.Bootstrap = &Bootstrap{Incarnation: 7} }, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, p := Observed{Now: now}, untold
			test.change(&o, &p)
			o.Pods = []Pod{p}
			due, next := Reminders(o)
			if len(due) != test.due || next != test.next {
				t.Errorf("%d due, and the next in %s; want %d and %s", len(due), next, test.due, test.next)
			}
		})
	}
	many := make([]Pod, 3*mostReminders)
	for i := range many {
		many[i] = untold
	}
	if due, next := Reminders(Observed{Now: now, Pods: many}); len(due) != mostReminders || next != remindAfter {
		t.Errorf("of %d pods %d are due, and the next in %s", len(many), len(due), next)
	}
}
