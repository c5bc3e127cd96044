package etcdcluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// A Secret that is being deleted is there until its last finalizer has gone. Until then what it holds counts, because members and clients
// may use it. But it is not written, which would be lost, and no pod is created that mounts it, which could never start.

// errGoing says that a Secret is there that is being deleted.
var errGoing = errors.New("it is being deleted")

// going are the names of those Secrets of the cluster that are being deleted, sorted.
func going(secrets map[string]*outline) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(secrets)), func(name string) bool { return secrets[name].going == nil })
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

// goneNotice is how long a Secret may take to go before it is reported: its finalizers may be the garbage collector's.
const goneNotice = time.Minute

// reportHeld says which Secrets are awaited, and which of the cluster's own do not go, and what holds them. Those of users are reported with what that means to them.
func (p *pass) reportHeld(d *certificates.Decision, secrets map[string]*outline, now time.Time) {
	awaitGone(d, going(secrets)...)
	var all []string
	for _, name := range going(secrets) {
		if held := secrets[name].going; p.userOf(name) == nil && now.Sub(held.since) > goneNotice {
			all = append(all, fmt.Sprintf("Secret %s is being deleted since %s, and is not written until it is gone: remove its finalizers (%s)",
				name, held.since.UTC().Format(time.RFC3339), strings.Join(held.finalizers, ", ")))
		}
	}
	if len(all) == 0 {
		return
	}
	reason := v1beta2.ReasonWriteRefused
	if d.Problem != nil {
		reason, all = d.Problem.Reason, append([]string{d.Problem.Message}, all...)
	}
	d.Problem = &failure.Problem{Reason: reason, Message: strings.Join(all, "; ")}
}

// writable leaves out what is being deleted, and with it all that relies on it.
func (p *pass) writable(all []*corev1.Secret) []*corev1.Secret {
	var some []*corev1.Secret
	for _, want := range all {
		switch have := p.certified.secrets[want.Name]; {
		case have == nil || have.going == nil:
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
	return secret != nil && secret.going == nil
}
