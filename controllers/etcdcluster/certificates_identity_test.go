package etcdcluster

import (
	"crypto/rand"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// decided makes decisions and carries them out, until nothing is to be written.
func decided(t *testing.T, seen *certificates.Observed) certificates.Decision {
	t.Helper()
	for {
		d, err := certificates.Decide(*seen, rand.Reader)
		must(t, err)
		for _, w := range d.Writes {
			switch w.Kind {
			case certificates.KindAuthority:
				seen.Authority = w.Data
			case certificates.KindAgent:
				seen.Agent = w.Data
			case certificates.KindClient:
				seen.Client = w.Data
			case certificates.KindMember:
				seen.Published[w.Member] = w.Data
			case certificates.KindUser:
			}
		}
		seen.Rotated, seen.Authorities, seen.Made, seen.Roots, seen.Operator = d.Rotated, d.Authorities, d.Authorities, d.Roots, d.Operator
		if d.Trust != nil {
			seen.Trust = d.Trust
		}
		if len(d.Writes) == 0 && !d.Recording {
			return d
		}
	}
}

// TestIdentityWhileTrustIsUnknown has the Secret with the authorities that a member trusts be gone, or altered, while authorities are replaced
// and all other members trust the next one already. The operator goes on as who it is, and so does one that is restarted: that member accepts
// nobody else. No authority is forgotten, and nothing counts as done.
func TestIdentityWhileTrustIsUnknown(t *testing.T) {
	for title, restarted := range map[string]bool{"the operator goes on": false, "the operator is restarted": true} {
		for what, altered := range map[string]bool{"it is gone": false, "it is altered": true} {
			t.Run(title+", "+what, func(t *testing.T) {
				both := member.Transport{PeerTLS: true, ClientTLS: true}
				seen := certificates.Observed{
					Now: noon, Names: certificates.Names{Cluster: "c", Namespace: "ns"}, Members: []string{"c-0", "c-1"}, AuthOff: true,
					Transport: both, Managed: &certificates.Managed{}, Published: map[string]map[string][]byte{}, Endpoints: "https://c",
				}
				former := decided(t, &seen)
				seen.Pods = []certificates.Pod{{Name: "c-0", Trust: former.Trust}, {Name: "c-1", Trust: former.Trust}}
				seen.Now, seen.Rotate = noon.Add(time.Hour), "ca:1"
				seen.Pods[0].Trust = decided(t, &seen).Trust
				before := seen.Authorities
				seen.Pods[1].Trust, seen.Rotate = nil, "ca:2"
				if altered {
					seen.Altered = []certificates.Altered{{Secret: "c-trust-" + former.TrustHash, Why: "it is"}}
				}
				if restarted {
					seen.Operator, seen.Made = nil, nil
				}
				p := securedPass()
				p.pods = map[string]*corev1.Pod{"c-0": trusting("c-0", "c-trust-next"), "c-1": trusting("c-1", "c-trust-"+former.TrustHash)}
				d, err := certificates.Decide(seen, rand.Reader)
				must(t, err)
				hold(&d, seen, p)
				checkAccepted(t, d.Operator, former.Trust[certificates.KeyServerCA], seen.Published["c-1"][certificates.KeyServerCertificate])
				left := slices.DeleteFunc(certificates.Held(seen.Authority), func(a string) bool { return !slices.Contains(d.Authorities, a) })
				if len(d.Writes) > 0 || d.Rotated != "ca:1" || len(before) != 4 || len(left) != 4 {
					t.Errorf("%d writes, %q is done, authorities %v of %v", len(d.Writes), d.Rotated, d.Authorities, before)
				}
			})
		}
	}
}

// checkAccepted holds that the operator and a member accept each other.
func checkAccepted(t *testing.T, id *certificates.Identity, trust, served []byte) {
	t.Helper()
	verify := func(what string, leaf, roots []byte, usage x509.ExtKeyUsage) {
		chain, err := pki.ParseCertificates(pki.Text{PEM: leaf})
		must(t, err)
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(roots)
		_, err = chain[0].Verify(x509.VerifyOptions{Roots: pool, CurrentTime: noon.Add(time.Hour), KeyUsages: []x509.ExtKeyUsage{usage}})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	verify("the member does not accept the operator", id.Certificate, trust, x509.ExtKeyUsageClientAuth)
	verify("the operator does not accept the member", served, id.Roots, x509.ExtKeyUsageServerAuth)
}

// trusting is a pod that mounts a Secret with authorities.
func trusting(name, secret string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pod.Spec.Volumes = []corev1.Volume{{Name: resources.TrustVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret},
	}}}
	return pod
}
