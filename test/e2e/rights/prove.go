package rights

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// account is the ServiceAccount that config/default gives the operator, the one whose requests the lab's API server notes.
var account = client.ObjectKey{Namespace: "etcd-operator-system", Name: "etcd-operator-controller-manager"}

// user is what the API server calls it.
func user() string {
	return strings.Join([]string{"system:serviceaccount", account.Namespace, account.Name}, ":")
}

// ErrNoLog is returned where there is no audit log.
var ErrNoLog = errors.New("the API server writes no audit log: end the lab and start it again (make lab-down lab-up)")

// errNothingNoted is returned where an operator that has asked for nothing proves nothing.
var errNothingNoted = errors.New("the API server has noted no request of the operator")

// Operators are the rights of the operator that config/default installs.
func Operators(ctx context.Context, c client.Reader) ([]Grant, error) {
	return Granted(ctx, c, account)
}

// Account makes the operator's, from some time on.
func Account(granted []Grant, files []string, since time.Time) (*Ledger, error) {
	if len(files) == 0 {
		return nil, ErrNoLog
	}
	l := NewLedger(granted)
	return l, Requests(files, user(), since, l.Enter)
}

// Outside gives the operator's requests from some time on that are about anything outside of some namespaces, allowed or not, but for those
// that ask who wants the metrics. That nothing was noted is an error.
func Outside(files []string, since time.Time, namespaces ...string) (outside []Grant, err error) {
	noted := 0
	err = Requests(files, user(), since, func(_ time.Time, took []Grant, _ bool) {
		for _, r := range took {
			noted++
			if !slices.Contains(namespaces, r.Namespace) && !slices.Contains([]string{"tokenreviews", "subjectaccessreviews"}, r.Resource) {
				outside = append(outside, r)
			}
		}
	})
	if err == nil && noted == 0 {
		err = errNothingNoted
	}
	return outside, err
}
