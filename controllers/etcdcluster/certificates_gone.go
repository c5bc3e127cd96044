package etcdcluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// A Secret that is being deleted is there until its last finalizer has gone. Until then what it holds counts, because members and clients
// may use it. But it is not written, which would be lost, and no pod is created that mounts it, which could never start.

// errGoing says that a Secret is there that is being deleted.
var errGoing = errors.New("it is being deleted")

// going are the names of those Secrets of the cluster that are being deleted, sorted.
func going(secrets map[string]*corev1.Secret) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(secrets)), func(name string) bool { return secrets[name].DeletionTimestamp.IsZero() })
}

// awaitGone says that Secrets are being deleted: each is created again once it is gone.
func awaitGone(d *certificates.Decision, names ...string) {
	wait := fmt.Sprintf("waiting until these Secrets, which are being deleted, no longer exist: %s", strings.Join(names, ", "))
	if len(names) == 0 || strings.Contains(d.Step, wait) {
		return
	}
	if d.Settled = false; d.Step != "" {
		wait = d.Step + "; " + wait
	}
	d.Step = wait
}

// writable leaves out what is being deleted, and with it all that relies on it.
func (p *pass) writable(all []*corev1.Secret) []*corev1.Secret {
	var some []*corev1.Secret
	for _, want := range all {
		switch have := p.certified.secrets[want.Name]; {
		case have == nil || have.DeletionTimestamp.IsZero():
			some = append(some, want)
		case !p.aside(want):
			return some
		}
	}
	return some
}

// aside reports whether no member relies on a Secret.
func (p *pass) aside(secret *corev1.Secret) bool {
	return secret.Type == corev1.SecretTypeTLS || secret.Name == certificates.AgentName(p.cluster.Name)
}

// ready reports whether a pod can mount a Secret.
func (p *pass) ready(name string) bool {
	secret := p.certified.secrets[name]
	return secret != nil && secret.DeletionTimestamp.IsZero()
}
