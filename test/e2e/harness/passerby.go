package harness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Passerby is a pod beside what is tested that connects to what it is told to.
type Passerby struct {
	env             *Env
	namespace, name string
}

// NewPasserby starts one with these labels, and waits until it is ready.
func (e *Env) NewPasserby(ctx context.Context, namespace, name string, labels map[string]string) (*Passerby, error) {
	grace := int64(0)
	err := e.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: Restricted(corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: "main", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sleep", "3600"},
			}},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("start passerby %s: %w", name, err)
	}
	return &Passerby{env: e, namespace: namespace, name: name},
		e.Run(ctx, "wait", "-n", namespace, "--for=condition=Ready", "pod/"+name, "--timeout=2m")
}

// Connects is an error if a port of an address takes no connection of the passerby within two seconds.
func (p *Passerby) Connects(ctx context.Context, address string, port int) error {
	return p.env.Run(ctx, "exec", "-n", p.namespace, p.name, "--", "sh", "-c", fmt.Sprintf("nc -w 2 %s %d </dev/null", address, port))
}

// Restricted has a pod keep to the restricted Pod Security Standard.
func Restricted(spec corev1.PodSpec) corev1.PodSpec {
	yes, no, user := true, false, int64(65532)
	spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, RunAsUser: &user, FSGroup: &user,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	for i := range spec.Containers {
		spec.Containers[i].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}
	return spec
}
