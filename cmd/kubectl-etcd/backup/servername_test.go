package backup

import (
	"strings"
	"testing"
)

// TestServerName wants a name for a certificate to be of an endpoint that has one: it would be asked of whoever gives credentials, too.
func TestServerName(t *testing.T) {
	for _, endpoint := range []string{"", "http://127.0.0.1:9000"} {
		p := place{}
		p.target.URL, p.target.Endpoint, p.target.ServerName = "s3://b/p", endpoint, "minio.storage.svc"
		if _, err := p.read(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "--endpoint https://") {
			t.Errorf("with endpoint %q: %v", endpoint, err)
		}
	}
}
