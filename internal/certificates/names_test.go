package certificates

import "testing"

func TestReserved(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		AuthorityName("c"): true, ClientName("c"): true, AgentName("c"): true, TrustName("c", "0"): true, MemberName("c-12"): true,
		"c-app-tls": false, "c-tls": false, "app": false, "cc-ca": false, "c-clients": false,
	} {
		if got := Reserved("c", name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
