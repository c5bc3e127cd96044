package certificates

import (
	"bytes"
	"maps"
	"testing"
	"time"
)

// replacing replaces the authorities for a time, in which members are updated one after the other, one in each interval, and somebody does
// something between any two decisions.
func (c *cluster) replacing(lasts, interval time.Duration, meddle func(*Observed)) {
	c.t.Helper()
	c.o.Refreshed = c.o.Now
	for end, next := c.o.Now.Add(lasts), c.o.Now; c.o.Now.Before(end); c.o.Now = c.o.Now.Add(10 * time.Second) {
		meddle(&c.o)
		d := c.decide()
		c.note(d)
		c.apply(d)
		c.serve()
		for i, p := range c.o.Pods {
			if d.Trust != nil && !c.o.Now.Before(next) && !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) {
				c.o.Pods[i].Trust, next = d.Trust, c.o.Now.Add(interval)
				break
			}
		}
	}
}

// TestHeldUpForGood has who may change the Secret of a user do so again and again while authorities are replaced: the former one is out of use
// in the end all the same.
func TestHeldUpForGood(t *testing.T) {
	for title, meddle := range map[string]func(o *Observed, before map[string][]byte){
		"it is noted as changed": func(o *Observed, _ map[string][]byte) { o.UsersRefreshed = o.Now },
		"it is deleted":          func(o *Observed, _ map[string][]byte) { o.Users[0].Data = nil },
		"it is put back":         func(o *Observed, before map[string][]byte) { o.Users[0].Data = maps.Clone(before) },
		"its authority is put back": func(o *Observed, before map[string][]byte) {
			o.Users[0].Data = maps.Clone(o.Users[0].Data)
			o.Users[0].Data[KeyCA] = before[KeyCA]
		},
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1")
			c.run()
			c.o.Now, c.o.Rotate = c.o.Now.Add(time.Hour), "ca:1"
			before := c.o.Users[0].Data
			c.replacing(2*Patience+5*time.Minute, time.Minute, func(o *Observed) { meddle(o, before) })
			if c.trusted() != 1 || c.o.Authority[KeyFormerServer] != nil || len(parse(t, c.o.Pods[0].Trust[KeyServerCA])) != 1 {
				t.Errorf("%d authorities are trusted: %q", c.trusted(), c.decide().Step)
			}
		})
	}
}

// TestSlowUpdateIsWaitedFor has the update of members take longer than anybody waits for a user's Secret. Applications still have time to read
// their certificates of the new authority before any member accepts no other ones.
func TestSlowUpdateIsWaitedFor(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	c.o.Now, c.o.Rotate = c.o.Now.Add(time.Hour), "ca:1"
	const interval = 4 * Patience / 3
	var handed time.Time
	c.replacing(3*Patience, interval, func(o *Observed) {
		if handed.IsZero() && o.Authority["server-handed-out"] != nil {
			handed = o.Refreshed
		}
		if d := c.decide(); d.Problem != nil {
			t.Errorf("%s after it began: %+v", o.Now.Sub(start.Add(time.Hour)), d.Problem)
		}
		if since := o.Now.Sub(handed); !handed.IsZero() && since < ReadTime && len(parse(t, o.Trust[KeyServerCA])) != 2 {
			t.Errorf("new members accept new certificates only, %s after applications were given any", since)
		}
	})
	if began := start.Add(time.Hour); handed.Sub(began) < interval || c.trusted() != 1 {
		t.Errorf("applications were given certificates %s after it began; %d authorities are trusted in the end", handed.Sub(began), c.trusted())
	}
}
