// Package installation tells which installation of the operator this process belongs to: by its namespace, its Lease and its pods.
package installation

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// NamespaceFile has the namespace that the process runs in, in a pod.
const NamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// PodLabels are the variables with labels of this operator's own pods, which the Deployment has the kubelet fill in.
var PodLabels = map[string]string{
	"POD_LABEL_CONTROL_PLANE": "control-plane",
	"POD_LABEL_NAME":          "app.kubernetes.io/name",
}

// namespaceIn is the namespace that this operator runs in, by the file that the kubelet writes into its pod. It fails outside of Kubernetes,
// where there is no such file.
func namespaceIn(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	namespace := strings.TrimSpace(string(content))
	if namespace == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return namespace, nil
}

// Identity identifies this operator among other installations, across its versions: by the Lease of its leader election, which is in its
// namespace. It fails where that is not known.
func Identity(file string) (claim.Operator, error) {
	namespace, err := namespaceIn(file)
	if err != nil {
		return claim.Operator{}, fmt.Errorf("find the namespace of the Lease (outside of Kubernetes, start without --leader-elect): %w", err)
	}
	return claim.Operator{Namespace: namespace, Lease: reservations.LeaseName}, nil
}

// OwnPods says which pods are this operator's. They are not known where its namespace is not, and with a Deployment without the variables.
func OwnPods(file string) resources.OperatorPods {
	namespace, err := namespaceIn(file)
	if err != nil {
		return resources.OperatorPods{}
	}
	own := resources.OperatorPods{Namespace: namespace, Labels: map[string]string{}}
	for variable, label := range PodLabels {
		if value := os.Getenv(variable); value != "" {
			own.Labels[label] = value
		}
	}
	return own
}

// NewLock is the Lease of this operator, for this process to hold. A request for it must not take half of the time that others wait.
func NewLock(config *rest.Config, self claim.Operator) (*leadership.Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("look up this machine's name: %w", err)
	}
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, self.Namespace, self.Lease,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, config, leadership.Term/2)
	if err != nil {
		return nil, fmt.Errorf("set the Lease %s up: %w", self, err)
	}
	return leadership.NewLock(lease, clock.RealClock{}), nil
}
