package reach

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
)

// TestDown tells an operator that runs from one that does not.
func TestDown(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	lease := func(holder string, ago time.Duration, renews bool) doctor.Lease {
		return doctor.Lease{Exists: true, Holder: holder, Renewed: now.Add(-ago), Renews: renews}
	}
	for name, test := range map[string]struct {
		lease doctor.Lease
		want  string
	}{
		"it runs":             {lease("a", time.Second, false), ""},
		"its clock is ahead":  {lease("a", -time.Hour, true), ""},
		"its clock is behind": {lease("a", time.Hour, true), ""},
		"it is late":          {lease("a", 2*time.Minute, false), "has not been heard of since 2026-11-24T11:58:00Z"},
		"it has given it up":  {lease("", time.Second, false), "does not run"},
		"its Lease is gone":   {doctor.Lease{}, "does not run"},
	} {
		if got := down("etcd-operator", test.lease, now); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestGenerateName leaves room for what the API server adds.
func TestGenerateName(t *testing.T) {
	for cluster, want := range map[string]string{
		"demo": "demo-now-", strings.Repeat("a", 60): strings.Repeat("a", 53) + "-now-", strings.Repeat("a", 52) + "-b": strings.Repeat("a", 52) + "-now-",
	} {
		if got := GenerateName(cluster, "now"); got != want {
			t.Errorf("%s: %s", cluster, got)
		}
	}
}

// TestCredentialsIn reads the Secrets of applications and of agents.
func TestCredentialsIn(t *testing.T) {
	for _, keys := range [][3]string{{"tls.crt", "tls.key", "ca.crt"}, {"etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt"}} {
		c, err := credentialsIn("s", map[string][]byte{keys[0]: []byte("c"), keys[1]: []byte("k"), keys[2]: []byte("a")})
		if err != nil || string(c.Certificate)+string(c.Key)+string(c.CA) != "cka" {
			t.Errorf("%v: %+v, %v", keys, c, err)
		}
	}
	if _, err := credentialsIn("s", map[string][]byte{"tls.crt": []byte("c")}); err == nil || !strings.Contains(err.Error(), "Secret s ") {
		t.Errorf("half of it: %v", err)
	}
}
