package certificates

import (
	"bytes"
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// TestIssuedWhileReading has cert-manager renew its authorities under an application that reads its Secret as late as it may: it reaches
// every member all the while.
func TestIssuedWhileReading(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.o.Managed.Issued = issued(c, year)
	if d := c.run(); !d.Settled {
		t.Fatalf("%+v", d)
	}
	read := c.o.Client
	c.o.Managed.Issued = issued(c, year)
	var waited bool
	for range 300 {
		c.o.Now = c.o.Now.Add(10 * time.Second)
		if c.o.Now.Sub(c.o.Refreshed) >= ReadTime {
			read = c.o.Client
		}
		d := c.decide()
		waited = waited || strings.Contains(d.Step, "connections of clients: waiting until applications have read")
		if d.Settled {
			break
		}
		c.step(d)
		c.reaches(read)
	}
	if d := c.decide(); !d.Settled || !waited || c.o.Authority["former-server.crt"] != nil {
		t.Errorf("it waited: %v; it ends with %q, %v", waited, d.Step, d.Problem)
	}
	if !bytes.Equal(c.o.Client[KeyCA], c.o.Managed.Issued.Server.Data[KeyCertificate]) {
		t.Error("the application is to trust something else than what was issued")
	}
	c.reaches(c.o.Client)
}

// step carries out a decision, notes whether applications have to read it, and updates one member if nothing was to be written.
func (c *cluster) step(d Decision) {
	c.apply(d)
	c.note(d)
	c.serve()
	if len(d.Writes) > 0 {
		return
	}
	if i := slices.IndexFunc(c.o.Pods, func(p Pod) bool { return !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) }); i >= 0 {
		c.o.Pods[i].Trust = d.Trust
	}
}

// reaches holds that an application with this Secret and every member verify each other.
func (c *cluster) reaches(secret map[string][]byte) {
	c.t.Helper()
	verifies := func(roots, leaf []byte) bool {
		return slices.ContainsFunc(parse(c.t, roots), func(a *x509.Certificate) bool { return pki.Verifies(parse(c.t, leaf), a, c.o.Now) })
	}
	for _, pod := range c.o.Pods {
		if !verifies(secret[KeyCA], c.o.Published[pod.Name][KeyServerCertificate]) {
			c.t.Errorf("the application does not verify %s", pod.Name)
		}
		if !verifies(pod.Trust[KeyServerCA], secret[KeyCertificate]) {
			c.t.Errorf("%s does not verify the application", pod.Name)
		}
	}
}
