package etcdcluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// readAuth asks etcd, and reads the Secret with root's password.
func (r *Reconciler) readAuth(ctx context.Context, p *pass, lasts time.Duration) (
	known authKnown, password authentication.Password, err error,
) {
	known = authKnown{
		clusterID: p.observed.Etcd.ClusterID, generation: p.cluster.Generation, until: r.Clock.Now().Add(lasts),
		origin: authentication.Random,
	}
	enabled, denied, err := p.session.AuthEnabled(ctx)
	known.asked, known.enabled, known.denied = err == nil && denied == "", enabled, denied // that etcd does not answer is an observation
	switch {
	case err != nil:
		known.until = r.Clock.Now().Add(authRetry)
	case enabled:
		known.until = r.Clock.Now().Add(authInterval)
	}
	if auth := p.cluster.Spec.Auth; auth != nil && auth.Enabled && auth.RootPasswordSecretRef != nil {
		password, err = r.readRootPassword(ctx, p, *auth.RootPasswordSecretRef, &known)
		return known, password, err
	}
	password, _ = authentication.NewPassword([]byte(rand.Text() + rand.Text())) // 260 bits that nobody knows, in 52 bytes
	return known, password, nil
}

// readRootPassword reads the Secret, past the cache as all Secrets are. There is no password if there is a problem.
func (r *Reconciler) readRootPassword(ctx context.Context, p *pass, ref v1beta2.SecretKeyRef, known *authKnown) (
	password authentication.Password, err error,
) {
	const field = "spec.auth.rootPasswordSecretRef"
	key := ref.Key
	if key == "" {
		key = "password"
	}
	known.origin = ""
	refuse := func(format string, arguments ...any) {
		known.problem = &failure.Problem{
			Reason: v1beta2.ReasonInvalidRootPassword, Message: fmt.Sprintf("%s: Secret %s %s", field, ref.Name, fmt.Sprintf(format, arguments...)),
		}
	}
	secret := &corev1.Secret{}
	err = r.Live.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		refuse("does not exist: create it")
		return password, nil
	case apierrors.IsForbidden(err):
		refuse("cannot be read (%v): grant the operator its role again", err)
		return password, nil
	case err != nil:
		return password, fmt.Errorf("read Secret %s: %w", ref.Name, err)
	}
	text, has := secret.Data[key]
	if !has {
		refuse("has no key %s: add it", key)
		return password, nil
	}
	password, wrong := authentication.NewPassword(text)
	if wrong != "" {
		refuse("has a key %s that %s", key, wrong)
		return password, nil
	}
	known.origin = fmt.Sprintf("%s/%s/%s", secret.UID, secret.ResourceVersion, key)
	if root, object := p.before.RootUser, p.key(); root != nil && root.RootPassword == known.origin {
		r.passwords.Hold(object, known.origin, password.Text())
	} else if root != nil && strings.HasPrefix(root.RootPassword, string(secret.UID)+"/") && r.passwords.Held(object, root.RootPassword, password.Text()) {
		known.sameAs = root.RootPassword
	}
	return password, nil
}
