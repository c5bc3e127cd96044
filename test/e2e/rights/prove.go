package rights

import (
	"context"
	"errors"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// account is the ServiceAccount that config/default gives the operator, the one whose requests the lab's API server notes.
var account = client.ObjectKey{Namespace: "etcd-operator-system", Name: "etcd-operator-controller-manager"}

// ErrNoLog is returned where there is no audit log.
var ErrNoLog = errors.New("the API server writes no audit log: end the lab and start it again (make lab-down lab-up)")

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
	user := strings.Join([]string{"system:serviceaccount", account.Namespace, account.Name}, ":")
	return l, Requests(files, user, since, l.Enter)
}
