package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

const (
	// expiryNotice is how long before a certificate expires its owner is told, unless it lives for less than ten times as long: then a
	// tenth of its life before.
	expiryNotice = 14 * 24 * time.Hour
	noticeShare  = 10
	// maxCertificates is the maximum number of certificates in status, that of the schema: with more the API server refuses all of it.
	maxCertificates = 64
)

// Certificates is what is known of a cluster's certificates.
type Certificates struct {
	certificates.Decision
	// TrustSecret and ClientSecret are the names of those Secrets; the latter is empty if there is none.
	TrustSecret, ClientSecret string
	// Recorded are the fingerprints of the cluster's own authorities, and RecordedRoots of those by which clients accept members.
	Recorded, RecordedRoots []string
}

// setTLS shows the certificates.
func setTLS(s *v1beta2.EtcdClusterStatus, in Input) {
	known := in.Certificates
	if known == nil {
		s.TLS, s.Authorities, s.Roots = nil, nil, nil
		return
	}
	s.Authorities, s.Roots = known.Recorded, known.RecordedRoots
	next := &v1beta2.TLSStatus{
		Step: known.Step, Rotated: known.Rotated, ClientSecret: known.ClientSecret, TrustSecret: known.TrustSecret,
	}
	listed, unlisted := listedCertificates(known.Certificates)
	next.UnlistedCertificates = int32(min(len(unlisted), 1<<30))
	for _, c := range listed {
		shown := v1beta2.CertificateStatus{Secret: c.Name, Use: c.Use, Issuer: c.Issuer, NotAfter: metav1.NewTime(c.NotAfter)}
		if !c.RenewAt.IsZero() {
			// The API keeps whole seconds: with more, status would differ from what was stored in every pass, and be written each time.
			shown.RenewTime = new(metav1.NewTime(c.RenewAt.Truncate(time.Second)))
		}
		next.Certificates = append(next.Certificates, shown)
	}
	s.TLS = next
}

// listedCertificates are those that status has room for: the cluster's own, and those of EtcdUsers that expire first. The others are
// unlisted.
func listedCertificates(all []certificates.Info) (listed, unlisted []certificates.Info) {
	if len(all) <= maxCertificates {
		return all, nil
	}
	var users []certificates.Info
	for _, c := range all {
		if c.User {
			users = append(users, c)
		} else {
			listed = append(listed, c)
		}
	}
	slices.SortStableFunc(users, func(a, b certificates.Info) int { return a.NotAfter.Compare(b.NotAfter) })
	listed = append(listed, users...)
	return listed[:maxCertificates], listed[maxCertificates:]
}

// certificatesValid says whether the certificates can be used.
func certificatesValid(in Input) verdict {
	known := in.Certificates
	if p := certificateTrouble(in); p != nil {
		return verdict{false, p.Reason, p.Message}
	}
	warnings := ""
	for _, w := range known.Warnings {
		warnings += "; " + w
	}
	switch c := in.Observed.Cluster; {
	case known.Step != "" && c.ID == 0 && c.Bootstrap == nil:
		return verdict{true, v1beta2.ReasonRotatingCertificates, "the certificates are written once the cluster may start" + warnings}
	case known.Step != "":
		return verdict{true, v1beta2.ReasonRotatingCertificates, known.Step + warnings}
	}
	message := "all certificates can be used"
	if first, ok := firstToExpire(known.Certificates); ok {
		message += fmt.Sprintf("; the first to expire is %s.crt in Secret %s, at %s", first.Use, first.Name, first.NotAfter.UTC().Format(time.RFC3339))
	}
	return verdict{true, v1beta2.ReasonCertificatesUsable, message + warnings}
}

// certificateTrouble is what is wrong with the certificates, nil if nothing is. That one expires is said with whatever else is wrong.
func certificateTrouble(in Input) *failure.Problem {
	known := in.Certificates
	if known == nil {
		return nil
	}
	expiring := expiringInWords(known.Certificates, in.Observed.Now)
	switch p := known.Problem; {
	case expiring == "":
		return p
	case p != nil:
		return &failure.Problem{Reason: p.Reason, Message: p.Message + "; " + expiring}
	}
	return &failure.Problem{Reason: v1beta2.ReasonCertificatesExpiring, Message: expiring}
}

// expired reports whether a certificate of the cluster's own has expired; those of EtcdUsers concern these alone.
func expired(in Input) bool {
	return in.Certificates != nil && slices.ContainsFunc(in.Certificates.Certificates, func(c certificates.Info) bool {
		return !c.User && !c.NotAfter.After(in.Observed.Now)
	})
}

// expiringInWords says which certificates expire so soon that their owner is to know, and who has to renew them; empty if none does. Each
// has its own notice: an authority outlives what it has issued, and at its end that is renewed ever more often, so the first to expire is
// none that lacks anything.
func expiringInWords(all []certificates.Info, now time.Time) string {
	const named = 3
	var some []string
	for _, c := range byExpiry(all) {
		left := c.NotAfter.Sub(now)
		if left > min(expiryNotice, c.NotAfter.Sub(c.NotBefore)/noticeShare) {
			continue
		}
		verb := "expires"
		if left <= 0 {
			verb = "has expired"
		}
		some = append(some, fmt.Sprintf("%s.crt in Secret %s %s at %s%s", c.Use, c.Name, verb, c.NotAfter.UTC().Format(time.RFC3339), renewal(c)))
	}
	if more := len(some) - named; more > 0 {
		some = append(some[:named], fmt.Sprintf("%d more expire", more))
	}
	return strings.Join(some, "; ")
}

// renewal says who has to renew a certificate, unless it is the operator.
func renewal(c certificates.Info) string {
	switch {
	case c.Certificate != "":
		return fmt.Sprintf(": have cert-manager renew Certificate %s, which it was copied from, and see whether it runs", c.Certificate)
	case c.RenewAt.IsZero():
		return ": renew the certificate that it was copied from, in the Secret that spec.tls.static names"
	}
	return ""
}

// byExpiry sorts certificates; of those that expire at once, an authority comes before what it has issued.
func byExpiry(all []certificates.Info) []certificates.Info {
	return slices.SortedStableFunc(slices.Values(all), func(a, b certificates.Info) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter), -cmp.Compare(a.Certificate, b.Certificate))
	})
}

func firstToExpire(all []certificates.Info) (certificates.Info, bool) {
	if len(all) == 0 {
		return certificates.Info{}, false
	}
	return byExpiry(all)[0], true
}
