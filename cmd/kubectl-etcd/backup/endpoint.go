package backup

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// explain says what to do where the endpoint has the name of a Service, as in most EtcdBackups: it is known in its cluster only.
func (p place) explain(err error) error {
	u, bad := url.Parse(p.target.Endpoint)
	if bad != nil || u.Hostname() == "" || !strings.Contains(err.Error(), "lookup ") || !strings.Contains(err.Error(), u.Hostname()) {
		return err // the cause itself may hold credentials, and is not to be had
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	name, namespace := "NAME", "NAMESPACE"
	if labels := strings.Split(u.Hostname(), "."); len(labels) > 2 && labels[2] == "svc" {
		name, namespace = labels[0], labels[1]
	}
	instead := fmt.Sprintf("--endpoint %s://127.0.0.1:9000", u.Scheme)
	if u.Scheme == "https" {
		instead += " --server-name " + u.Hostname()
	}
	return fmt.Errorf("%w; if %s is the name of a Service, it is known in its Kubernetes cluster only: have a port lead there "+
		"(kubectl -n %s port-forward service/%s 9000:%s), and give %s", err, u.Hostname(), namespace, name, port, instead)
}

// flags are what "backup list" is to be told of a storage beside its URL, each with a space before it.
func flags(s *v1beta2.Storage) (text string) {
	if s == nil {
		return ""
	}
	for _, f := range []struct{ name, value string }{{"endpoint", s.Endpoint}, {"region", s.Region}} {
		if f.value != "" {
			text += " --" + f.name + " " + quoted(terminal.Clean(f.value))
		}
	}
	if s.ForcePathStyle {
		text += " --path-style"
	}
	if s.CABundleRef.Name != "" {
		text += " --ca-file FILE"
	}
	return text
}
