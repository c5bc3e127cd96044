package reach

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestNeeds asks for the right to read the Lease, where it is.
func TestNeeds(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	c.Status.Operator = &v1beta2.OperatorReference{Namespace: "etcd-operator-system", Lease: leaseOf}
	all := (&Access{namespace: "app"}).needs(c)
	if last := all[len(all)-1]; last.Resource != "leases" || last.Namespace != "etcd-operator-system" || last.Name != leaseOf || last.Verb != "get" {
		t.Errorf("the last one is %+v", last)
	}
	if all[0].Namespace != "app" {
		t.Errorf("the first one is %+v", all[0])
	}
	all = (&Access{namespace: "app", Secret: "demo-agent"}).needs(c)
	if !slices.ContainsFunc(all, func(n need) bool { return n.Resource == "secrets" && n.Name == "demo-agent" && n.Verb == "get" }) {
		t.Errorf("the Secret that is named is not among %+v", all)
	}
}

// TestCredentialsOfYours says which commands can be given what is missing.
func TestCredentialsOfYours(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	_, err := (&Access{}).Credentials(t.Context(), &Seen{Object: c, Pods: []corev1.Pod{servesTLS()}})
	if err == nil || !strings.Contains(err.Error(), "doctor") || !strings.Contains(err.Error(), "--secret") {
		t.Errorf("it says %v", err)
	}
}

// servesTLS is the pod of a member that clients talk to over TLS.
func servesTLS() (pod corev1.Pod) {
	const config = `{"name":"demo-0","peerURL":"https://p","clientURL":"https://c","dataDir":"/d","transport":{"clientTLS":true}}`
	pod.Spec.Containers = []corev1.Container{{Name: resources.EtcdContainer, Env: []corev1.EnvVar{{Name: member.EnvConfig, Value: config}}}}
	return pod
}
