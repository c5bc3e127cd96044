package etcduser

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// longest is how many bytes of a password bcrypt takes, with which etcd hashes it. etcd hashes an empty one, too.
const longest = 72

// readPassword reads the password from the API server: no Secret is ever cached. Instead of a hash of it, the state of its Secret is
// remembered.
func readPassword(ctx context.Context, live client.Reader, namespace string, ref *v1beta2.SecretKeyRef) (
	password string, version *v1beta2.SecretVersion, problem *failure.Problem, err error,
) {
	secret := &corev1.Secret{}
	unusable := func(why string) *failure.Problem {
		return &failure.Problem{Reason: v1beta2.ReasonPasswordUnusable, Message: "spec.passwordSecretRef: Secret " + ref.Name + " " + why}
	}
	err = live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil, unusable("not found: create it"), nil
	case apierrors.IsForbidden(err):
		return "", nil, unusable("may not be read: " + err.Error()), nil
	case err != nil:
		return "", nil, nil, fmt.Errorf("read Secret %s: %w", ref.Name, err)
	}
	value, found := secret.Data[ref.Key]
	switch {
	case !found:
		return "", nil, unusable("has no key " + ref.Key), nil
	case len(value) == 0:
		return "", nil, unusable("has an empty " + ref.Key + ": a password has 1 to 72 bytes"), nil
	case len(value) > longest:
		return "", nil, unusable(fmt.Sprintf("has %d bytes in %s: a password has 1 to 72", len(value), ref.Key)), nil
	}
	return string(value), &v1beta2.SecretVersion{
		UID: string(secret.UID), ResourceVersion: secret.ResourceVersion, Key: ref.Key,
	}, nil, nil
}

// idOf tells one state of a Secret from another, empty for none.
func idOf(v *v1beta2.SecretVersion) string {
	if v == nil {
		return ""
	}
	return v.UID + " " + v.ResourceVersion + " " + v.Key
}
