package certificates

import (
	"slices"
	"testing"
	"time"
)

// TestBothSidesAtOnce has members stop trusting the former authorities of both sides at once, after applications have read their Secrets: an
// update of all members takes long, and replaces those on emptyDirs.
func TestBothSidesAtOnce(t *testing.T) {
	c := managed(t, "db-0", "db-1", "db-2")
	c.run()
	c.o.Rotate = "ca:1"
	var wanted []string
	for range 100 {
		d := c.decide()
		c.note(d)
		c.apply(d)
		if d.Recording {
			continue
		}
		if len(wanted) == 0 || wanted[len(wanted)-1] != d.TrustHash {
			wanted = append(wanted, d.TrustHash)
		}
		for i := range c.o.Pods {
			c.o.Pods[i].Trust = d.Trust
		}
		c.serve()
		c.connected()
		c.o.Now = c.o.Now.Add(5 * time.Second)
	}
	if c.trusted() != 1 || len(wanted) != 2 {
		t.Errorf("%d authorities are trusted after members were to trust others %d times, want once both and once the new ones", c.trusted(), len(wanted))
	}
}

// TestOneSideAgainAndAgain has the authority of clients replaced again and again, while that of peers is replaced once: members stop trusting the
// former one of peers all the same.
func TestOneSideAgainAndAgain(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.o.Managed.Issued = issued(c, year)
	c.run()
	c.o.Now = c.o.Now.Add(time.Hour)
	first := issued(c, year)
	c.o.Managed.Issued = first
	for range 8 * 60 {
		if c.o.Authority[KeyFormerServer] == nil && !slices.Equal(c.o.Authority[KeyServerCertificate], first.Server.Data[KeyCertificate]) {
			c.o.Managed.Issued = &Issued{Peer: first.Peer, Server: issued(c, year).Server}
		}
		c.note(c.updated())
		c.presentLive()
		if c.o.Now = c.o.Now.Add(time.Minute); c.o.Authority[formerPrefix+KeyPeerCertificate] == nil && c.o.Now.Sub(start) > 2*time.Hour {
			return
		}
	}
	t.Error("the former authority of peers is kept for hours")
}
