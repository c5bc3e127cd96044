package certificates

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// refusing carries out decisions for a time, but for the Secret of the first user, and updates a member whenever nothing else is left.
func (c *cluster) refusing(words string, lasts time.Duration) (d Decision) {
	c.t.Helper()
	c.o.Users[0].Refused = words
	for end := c.o.Now.Add(lasts); c.o.Now.Before(end); c.o.Now = c.o.Now.Add(10 * time.Second) {
		had := c.o.Users[0].Data
		d = c.decide()
		if c.apply(d); words != "" {
			c.o.Users[0].Data = had
		}
		c.serve()
		for i, p := range c.o.Pods {
			if d.Trust != nil && !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) {
				c.o.Pods[i].Trust = d.Trust
				break
			}
		}
	}
	return d
}

// TestUnwritableUser has a user's Secret refuse to be written while authorities are replaced. The members wait for a while, and nobody is cut
// off; then they go on without it. It is named all the time, and written as soon as it can be.
func TestUnwritableUser(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	old := c.o.Users[0].Data
	c.o.Now = c.o.Now.Add(time.Hour)
	c.o.Rotate = "ca:1"
	began := c.o.Now
	d := c.refusing("field is immutable", Patience-10*time.Second)
	c.connected()
	named := func(d Decision, until string) {
		t.Helper()
		writes := len(slices.DeleteFunc(slices.Clone(d.Writes), func(w Write) bool { return w.Kind != KindUser }))
		if d.Problem == nil || d.Problem.Reason != v1beta2.ReasonWriteRefused || writes != 1 {
			t.Fatalf("problem %+v, %d writes", d.Problem, writes)
		}
		for _, word := range []string{"Secret app-tls", "field is immutable", "delete the Secret", until} {
			if !strings.Contains(d.Problem.Message, word) {
				t.Errorf("%q does not say %q", d.Problem.Message, word)
			}
		}
	}
	named(d, "waits for it until "+began.Add(Patience).Format(time.RFC3339))
	if c.o.Authority[KeyFormerServer] == nil {
		t.Error("the former authority is gone, although the user was waited for")
	}
	d = c.refusing("field is immutable", 10*time.Minute)
	if named(d, "does not wait"); c.trusted() != 1 || c.o.Authority[KeyFormerServer] != nil || !bytes.Equal(c.o.Users[0].Data[KeyCA], old[KeyCA]) {
		t.Errorf("%d authorities are trusted: %q", c.trusted(), d.Step)
	}
	c.o.Users[0].Refused = "" // another process does not know
	c.o.Members = append(c.o.Members, "db-9")
	if d = c.decide(); len(d.Waiting) > 0 {
		t.Errorf("a new member waits for the user that was given up: %q", d.Waiting)
	}
	if d = c.refusing("", time.Minute); !d.Settled || d.Problem != nil {
		t.Errorf("once it can be written: %q, %+v", d.Step, d.Problem)
	}
	c.connected()
}

// TestFormerUser waits for no Secret that is not of a user any more.
func TestFormerUser(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	c.o.Rotate = "ca:1"
	c.refusing("no", time.Minute)
	c.o.Users = c.o.Users[1:]
	if d, _ := c.settle(); c.trusted() != 1 || d.Problem != nil {
		t.Errorf("%d authorities are trusted, %+v", c.trusted(), d.Problem)
	}
}

// TestPatienceBeginsOnce has other processes take over, and another user's Secret refuse to be written, while authorities are replaced: the
// replacement does not wait any longer for that. The next replacement does.
func TestPatienceBeginsOnce(t *testing.T) {
	for title, c := range map[string]*cluster{"the operator's": managed(t, "db-0", "db-1"), "cert-manager's": managed(t, "db-0", "db-1")} {
		t.Run(title, func(t *testing.T) {
			replace := func() {
				if title == "cert-manager's" {
					c.o.Managed.Issued = issued(c, year)
					c.o.Now = c.o.Now.Add(time.Hour) // it is adopted later than it was issued
				} else {
					c.o.Rotate += "ca:1"
				}
			}
			replace()
			c.run()
			for range 2 {
				c.o.Now = c.o.Now.Add(time.Hour)
				replace()
				began := c.o.Now
				c.refusing("no", 5*time.Minute)
				c.o.Users[0].Refused, c.o.Made, c.o.Operator = "", nil, nil
				c.decide()
				c.o.Users[1].Refused = "no, either"
				c.refusing("no", Patience-5*time.Minute-10*time.Second)
				if c.o.Authority[KeyFormerServer] == nil {
					t.Error("the former authority is gone before its time")
				}
				if c.refusing("no", 2*time.Minute); c.trusted() != 1 || c.o.Authority[KeyFormerServer] != nil {
					t.Errorf("%s after it began, %d authorities are trusted", c.o.Now.Sub(began), c.trusted())
				}
				c.refusing("", time.Minute) // who was cut off is not waited for
			}
		})
	}
}

// TestManyUnwritableUsers names some of very many users, so that a condition can hold the message.
func TestManyUnwritableUsers(t *testing.T) {
	c := managed(t, "db-0")
	c.o.Users = nil
	for i := range 500 {
		c.o.Users = append(c.o.Users, User{Name: fmt.Sprint("u", i), Secret: fmt.Sprint("s", i), Refused: strings.Repeat("no", 150)})
	}
	if d := c.decide(); d.Problem == nil || !strings.HasSuffix(d.Problem.Message, "and 495 more") || len(d.Problem.Message) > 5000 {
		t.Errorf("%+v", d.Problem)
	}
}
