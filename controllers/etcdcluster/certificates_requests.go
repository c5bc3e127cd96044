package etcdcluster

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificaterequests,verbs=list

const (
	// issuance is how long cert-manager may take before it is reported.
	issuance = time.Minute
	// renewal is how long it may leave a renewal alone that is due: it may be restarting, and a third of the authority's life is left.
	renewal = 10 * time.Minute
	// mostRequests of one Certificate are read, as cert-manager may keep those of former issuances, and requestsPerPage at a time: one can have
	// over a megabyte.
	mostRequests, requestsPerPage = 200, 5
	// mostOfIssuance is how many of them may be of the last issuance and the one that goes on: cert-manager makes one for each.
	mostOfIssuance = 5
	// longestWord is how much of a message of cert-manager's is shown: an issuer may have put anything into it.
	longestWord = 300
	// revisionAnnotation of a CertificateRequest says which of its Certificate's issuances it is, from 1 on.
	revisionAnnotation = "cert-manager.io/certificate-revision"
)

// readRequests returns the CertificateRequests of a Certificate's last issuance and of the one that goes on, the later one first. cert-manager
// writes the Secret before it counts an issuance in the Certificate's status. If it may not read them, found has why, and ok is false.
func (r *Reconciler) readRequests(
	ctx context.Context, certificate *unstructured.Unstructured, labels map[string]string, read *secretsReader, found *certificates.IssuedAuthority,
) (requests []*unstructured.Unstructured, ok bool) {
	last, _, _ := unstructured.NestedInt64(certificate.Object, "status", "revision")
	requests, err := r.listRequests(ctx, certificate, labels, func(one *unstructured.Unstructured) bool {
		revision := revisionOf(one)
		return metav1.IsControlledBy(one, certificate) && (revision == last || revision == last+1)
	})
	var tooMany *tooManyError
	switch {
	case errors.As(err, &tooMany):
		found.Refused = tooMany.Error()
		return nil, false
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		found.Refused = errNotInstalled.Error()
		return nil, false
	case apierrors.IsForbidden(err):
		found.Refused = fmt.Sprintf("spec.tls.managed.issuerRef: %.300s: grant the operator its role again", err)
		return nil, false
	case err != nil:
		read.err = cmp.Or(read.err, fmt.Errorf("list the CertificateRequests of Certificate %s: %w", certificate.GetName(), err))
		return nil, false
	}
	slices.SortFunc(requests, func(a, b *unstructured.Unstructured) int { return cmp.Compare(revisionOf(b), revisionOf(a)) })
	return requests, true
}

// tooManyError says that there are more CertificateRequests with the labels of a Certificate than are read.
type tooManyError struct{ certificate, labels string }

func (e *tooManyError) Error() string {
	return fmt.Sprintf("there are more than %d CertificateRequests with the labels of Certificate %s (%s), or more than %d of one issuance, so "+
		"none is read: delete those of former issuances, and find out who makes the others", mostRequests, e.certificate, e.labels, mostOfIssuance)
}

// listRequests returns those with the labels of a Certificate, which cert-manager gives to its requests, that are wanted. Whoever may create
// CertificateRequests can make many of them, and large ones, so few are in memory at a time.
func (r *Reconciler) listRequests(
	ctx context.Context, certificate *unstructured.Unstructured, labels map[string]string, wanted func(*unstructured.Unstructured) bool,
) (requests []*unstructured.Unstructured, err error) {
	tooMany := &tooManyError{certificate.GetName(), k8slabels.Set(labels).String()}
	next := ""
	for range mostRequests / requestsPerPage {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(resources.CertificateRequestKind)
		if err := r.Live.List(ctx, page, client.InNamespace(certificate.GetNamespace()), client.MatchingLabels(labels),
			client.Limit(requestsPerPage), client.Continue(next)); err != nil {
			return nil, err
		}
		for i := range page.Items {
			if wanted(&page.Items[i]) {
				requests = append(requests, page.Items[i].DeepCopy()) // the page can go
			}
		}
		if next = page.GetContinue(); len(requests) > mostOfIssuance {
			return nil, tooMany
		}
		if next == "" {
			return requests, nil
		}
	}
	return nil, tooMany
}

// revisionOf is 0 for a request that cert-manager does not count.
func revisionOf(request *unstructured.Unstructured) int64 {
	revision, err := strconv.ParseInt(request.GetAnnotations()[revisionAnnotation], 10, 64)
	if err != nil || revision < 1 {
		return 0
	}
	return revision
}

// signedBy are the certificates that the issuer has signed for these requests.
func signedBy(requests []*unstructured.Unstructured) (signed [][]byte) {
	for _, request := range requests {
		text, _, _ := unstructured.NestedString(request.Object, "status", "certificate")
		if certificate, err := base64.StdEncoding.DecodeString(text); err == nil && condition(request, "Ready").status == "True" {
			signed = append(signed, certificate)
		}
	}
	return signed
}

// refusedBy is why cert-manager does not issue, or renew, in its own words; empty while it has not tried, or not for long.
func refusedBy(certificate *unstructured.Unstructured, requests []*unstructured.Unstructured, issued bool, now time.Time) string {
	name, issuing := certificate.GetName(), condition(certificate, "Issuing")
	if issuing.status == "False" && issuing.reason != "" && issuing.reason != "Issued" {
		return fmt.Sprintf("cert-manager cannot issue Certificate %s: %.*s: correct the issuer, or spec.tls.managed", name, longestWord, issuing.message)
	}
	done := "issued"
	since, patience := certificate.GetCreationTimestamp().Time, issuance
	switch {
	case issuing.status == "True":
		since = issuing.since
	case issued:
		done, patience = "renewed", renewal
		if since = renewalOf(certificate); since.IsZero() {
			return ""
		}
	}
	if now.Sub(since) <= patience {
		return ""
	}
	return lateInWords(certificate, requests, done)
}

// renewalOf is when cert-manager is to renew what it has issued, zero if it has not said.
func renewalOf(certificate *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(certificate.Object, "status", "renewalTime")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// lateInWords is what cert-manager has not done in time, and what it says.
func lateInWords(certificate *unstructured.Unstructured, requests []*unstructured.Unstructured, done string) string {
	words := condition(certificate, "Ready").message
	if len(requests) > 0 {
		words = cmp.Or(condition(requests[0], "Ready").message, words)
	}
	issuer := func(field string) string {
		text, _, _ := unstructured.NestedString(certificate.Object, "spec", "issuerRef", field)
		return text
	}
	return fmt.Sprintf("cert-manager has not %s Certificate %s (%.*s): see whether it runs, whether %s %s of spec.tls.managed.issuerRef "+
		"is ready, and kubectl describe certificaterequests", done, certificate.GetName(), longestWord, words, issuer("kind"), issuer("name"))
}

// issuedCondition is one of cert-manager's conditions.
type issuedCondition struct {
	status, reason, message string
	// since is when the status became what it is.
	since time.Time
}

func condition(of *unstructured.Unstructured, kind string) issuedCondition {
	all, _, _ := unstructured.NestedSlice(of.Object, "status", "conditions")
	for _, one := range all {
		fields, _ := one.(map[string]any)
		if fields["type"] != kind {
			continue
		}
		text := func(key string) string { s, _ := fields[key].(string); return s }
		since, err := time.Parse(time.RFC3339, text("lastTransitionTime"))
		if err != nil {
			since = of.GetCreationTimestamp().Time
		}
		return issuedCondition{text("status"), text("reason"), text("message"), since}
	}
	return issuedCondition{message: "it has no condition " + kind}
}
