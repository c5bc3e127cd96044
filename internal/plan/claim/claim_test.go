package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

var (
	nobody = claim.Operator{}
	self   = claim.Operator{Namespace: "new", Lease: "lease"}
	other  = claim.Operator{Namespace: "old", Lease: "lease"}
	epoch  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func withUID(o claim.Operator, uid string) claim.Operator {
	o.UID = uid
	return o
}

// look is one at a Lease, so many seconds after the first one.
type look struct {
	at      int
	holder  string
	renewed string
	refused bool
}

func seen(looks []look) (l claim.Lease) {
	for _, k := range looks {
		now := epoch.Add(time.Duration(k.at) * time.Second)
		if k.refused {
			l = l.Refused(now)
			continue
		}
		l = l.Look(now, claim.Record{Holder: k.holder, Renewed: k.renewed})
	}
	return l
}

func TestDecide(t *testing.T) {
	const a, b, gone = "a", "b", ""
	for _, c := range []struct {
		name           string
		self, claimant claim.Operator
		looks          []look
		want           string
	}{
		{"nobody's", self, nobody, nil, "take over from nobody"},
		{"nobody's, without a Lease", nobody, nobody, nil, "act"},
		{"its own", self, self, nil, "act"},
		{"its own, by the UID of its Lease", withUID(self, "1"), withUID(self, "1"), nil, "act"},
		{"its own, or of a namesake, as the UID of its Lease is not known", self, withUID(self, "1"), nil, "wait"},
		{"its own, before claims had UIDs", withUID(self, "1"), self, nil, "take over from new/lease"},
		{"its own, by a Lease that is gone", withUID(self, "2"), withUID(self, "1"), nil, "take over from new/lease"},
		{"another one's, by a UID", withUID(self, "1"), withUID(other, "1"), []look{{at: 0, holder: a, renewed: "1"}}, "wait"},
		{"its own, in a namespace where another one is", self, claim.Operator{Namespace: "new", Lease: "other"}, nil, "wait"},
		{"the first look", self, other, []look{{at: 0, holder: a, renewed: "1"}}, "wait"},
		{"renewed", self, other, []look{{at: 0, holder: a, renewed: "1"}, {at: 10, holder: a, renewed: "2"}}, "stand back"},
		{"renewed for ever", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 1000, holder: a, renewed: "2"}, {at: 2000, holder: a, renewed: "3"},
		}, "stand back"},
		{"by a clock that runs backwards", self, other, []look{
			{at: 0, holder: a, renewed: "9"}, {at: 60, holder: a, renewed: "8"},
		}, "stand back"},
		{"another process of it", self, other, []look{{at: 0, holder: a, renewed: "1"}, {at: 60, holder: b, renewed: "1"}}, "stand back"},
		{"not renewed, not for long enough", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 59, holder: a, renewed: "1"},
		}, "wait"},
		{"not renewed any more", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 30, holder: a, renewed: "1"}, {at: 60, holder: a, renewed: "1"},
		}, "take over from old/lease"},
		{"nobody could renew or look, for the API server was away", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 600, holder: a, renewed: "1"}, {at: 615, holder: a, renewed: "2"},
		}, "stand back"},
		{"and it was not renewed after that", self, other, []look{
			{at: 0, holder: a, renewed: "1"},
			{at: 600, holder: a, renewed: "1"},
			{at: 630, holder: a, renewed: "1"},
			{at: 660, holder: a, renewed: "1"},
		}, "take over from old/lease"},
		{"not renewed any more since it was", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 30, holder: a, renewed: "2"}, {at: 60, holder: a, renewed: "2"}, {at: 89, holder: a, renewed: "2"},
		}, "stand back"},
		{"and for long enough", self, other, []look{
			{at: 0, holder: a, renewed: "1"},
			{at: 20, holder: a, renewed: "2"},
			{at: 50, holder: a, renewed: "2"},
			{at: 80, holder: a, renewed: "2"},
		}, "take over from old/lease"},
		{"not there", self, other, []look{{at: 0}}, "wait"},
		{"never there", self, other, []look{{at: 0}, {at: 30}, {at: 60}}, "take over from old/lease"},
		{"deleted", self, other, []look{{at: 0, holder: a, renewed: "1"}, {at: 30}, {at: 60}}, "take over from old/lease"},
		{"deleted, and made again", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 30}, {at: 60, holder: a, renewed: "1"},
		}, "stand back"},
		{"given back", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 30, holder: gone, renewed: "2"}, {at: 60, holder: gone, renewed: "2"},
		}, "take over from old/lease"},
		{"given back, and noted anew by nobody", self, other, []look{
			{at: 0, holder: gone, renewed: "1"}, {at: 30, holder: gone, renewed: "2"}, {at: 60, holder: gone, renewed: "3"},
		}, "take over from old/lease"},
		{"given back, and taken again at last", self, other, []look{
			{at: 0, holder: gone, renewed: "1"}, {at: 60, holder: gone, renewed: "1"}, {at: 70, holder: a, renewed: "2"},
		}, "stand back"},
		{"may not be read", self, other, []look{{at: 0, refused: true}, {at: 1000, refused: true}}, "stand back"},
		{"may be read now", self, other, []look{{at: 0, refused: true}, {at: 1000, holder: a, renewed: "1"}}, "wait"},
		{"may not be read any more", self, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 60, refused: true},
		}, "stand back"},
		{"alive, without a Lease of one's own", nobody, other, []look{
			{at: 0, holder: a, renewed: "1"}, {at: 10, holder: a, renewed: "2"},
		}, "stand back"},
		{"gone, without a Lease of one's own", nobody, other, []look{{at: 0}, {at: 30}, {at: 60}}, "act"},
	} {
		if got := words(claim.Decide(c.self, c.claimant, seen(c.looks))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func words(d claim.Decision) string {
	switch d := d.(type) {
	case claim.TakeOver:
		return "take over from " + d.From.String()
	case claim.StandBack:
		if d.Other == nobody || d.Other == self || d.Why == "" {
			return "stand back, without a reason"
		}
		if !d.Known {
			return "wait"
		}
		return "stand back"
	default:
		return "act"
	}
}

// TestWhy wants people to be told who acts, and who does not.
func TestWhy(t *testing.T) {
	alive := seen([]look{{at: 0, holder: "a", renewed: "1"}, {at: 10, holder: "a", renewed: "2"}})
	refused := seen([]look{{refused: true}})
	for _, c := range []struct {
		name  string
		self  claim.Operator
		lease claim.Lease
		want  []string
	}{
		{"alive", self, alive, []string{"Lease old/lease acts", "new/lease", "WATCH_NAMESPACE"}},
		{"unknown", self, refused, []string{"Lease old/lease acts", "new/lease, may not read", "get on leases in namespace old"}},
		{"without a Lease", nobody, alive, []string{"Lease old/lease acts", "--leader-elect"}},
	} {
		why := claim.Decide(c.self, other, c.lease).(claim.StandBack).Why
		for _, want := range c.want {
			if !strings.Contains(why, want) {
				t.Errorf("%s: %q says nothing of %q", c.name, why, want)
			}
		}
	}
}

func TestMutates(t *testing.T) {
	for d, want := range map[claim.Decision]bool{claim.Act{}: false, claim.StandBack{}: false, claim.TakeOver{}: true} {
		if got := claim.Mutates(d); got != want {
			t.Errorf("%T: %v", d, got)
		}
	}
}

// TestDue wants one look in so long, whatever the last one has shown.
func TestDue(t *testing.T) {
	never := claim.Lease{}
	if !never.Due(epoch, time.Second) {
		t.Error("one that was never looked at is not due")
	}
	for _, l := range []claim.Lease{never.Look(epoch, claim.Record{}), never.Refused(epoch)} {
		if l.Due(epoch.Add(time.Second-1), time.Second) || !l.Due(epoch.Add(time.Second), time.Second) {
			t.Errorf("%+v is due at another time", l)
		}
	}
}
