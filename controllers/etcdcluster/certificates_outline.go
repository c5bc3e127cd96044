package etcdcluster

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// outline is what is kept of a Secret between two reads. The certificates of all clusters would take most of the operator's memory, and their
// private keys need not be there.
type outline struct {
	// uid and version are what a write of it is conditional on.
	uid     types.UID
	version string
	// keys are its keys, with blanks between them. All clusters have the same, so they are kept once.
	keys unique.Handle[string]
	// authorities are the fingerprints of the cluster's own that it holds; none but in the Secret of AuthorityName.
	authorities []string
	// endpoints is where it tells applications to connect, empty if that is not where they are to.
	endpoints string
	// going is nil unless it is being deleted.
	going *departure
}

// departure is since when a Secret is being deleted, and what holds it.
type departure struct {
	since      time.Time
	finalizers []string
}

// outlineOf is what is kept of a Secret of the cluster.
func (p *pass) outlineOf(secret *corev1.Secret) *outline {
	o := &outline{
		uid: secret.UID, version: secret.ResourceVersion,
		keys: unique.Make(strings.Join(slices.Sorted(maps.Keys(secret.Data)), " ")),
	}
	if secret.Name == certificates.AuthorityName(p.cluster.Name) {
		o.authorities = certificates.Held(secret.Data)
	}
	if url := resources.ClientURL(p.cluster); string(secret.Data[certificates.KeyEndpoints]) == url {
		o.endpoints = url
	}
	if since := secret.DeletionTimestamp; !since.IsZero() {
		o.going = &departure{since: since.Time, finalizers: secret.Finalizers}
	}
	return o
}

// outlines is outlineOf for all of them.
func (p *pass) outlines(secrets map[string]*corev1.Secret) map[string]*outline {
	all := make(map[string]*outline, len(secrets))
	for name, secret := range secrets {
		all[name] = p.outlineOf(secret)
	}
	return all
}

// names are the keys that it has.
func (o *outline) names() []string { return strings.Fields(o.keys.Value()) }

// holds reports whether it has all of these keys.
func (o *outline) holds(keys ...string) bool {
	names := o.names()
	return !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(names, key) })
}
