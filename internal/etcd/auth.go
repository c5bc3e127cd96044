package etcd

import (
	"context"
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// ErrNoPassword says that etcd's user root was made without a password, and etcd lets it have none later.
var ErrNoPassword = etcdclient.ErrNoPassword

// AuthEnabled asks whether etcd's authentication is on. It costs an entry in etcd's log, so it is not for every observation. If etcd does
// not take the operator for root, denied says so.
func (s *Session) AuthEnabled(ctx context.Context) (enabled bool, denied string, err error) {
	err = s.change(ctx, "ask whether authentication is on", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		var err error
		enabled, err = c.AuthEnabled(ctx)
		if etcdclient.Denied(err) {
			denied, err = err.Error(), nil
		}
		return err
	})
	return enabled, denied, err
}

// EnableAuth makes etcd's user root anew, with this password, switches authentication on, and verifies that etcd takes the operator for
// root: an error after that says that it does not. It can be repeated.
func (s *Session) EnableAuth(ctx context.Context, password string) error {
	return s.change(ctx, "switch authentication on", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		if err := c.EnableAuth(ctx, password); err != nil {
			return err
		}
		switch enabled, err := c.AuthEnabled(ctx); {
		case err != nil:
			return fmt.Errorf("verify it: %w", err)
		case !enabled:
			return fmt.Errorf("%w: it was switched off at once", ErrNotYet)
		}
		return nil
	})
}

// DisableAuth switches etcd's authentication off. Users and roles stay. It is no error if it is off.
func (s *Session) DisableAuth(ctx context.Context) error {
	return s.change(ctx, "switch authentication off", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.DisableAuth(ctx)
	})
}

// ChangeRootPassword changes the password of etcd's user root. Who has logged in with the former one has to log in again. It is
// ErrNoPassword if root cannot have a password.
func (s *Session) ChangeRootPassword(ctx context.Context, password string) error {
	return s.change(ctx, "change root's password", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.ChangeRootPassword(ctx, password)
	})
}

// Denied returns what etcd says to an operator that it knows as no user, or as one that may not ask for a member's status; empty unless a
// majority of the voters says that: one member that somebody else runs can say anything.
func (s *Session) Denied() string {
	denied, count := "", 0
	for _, a := range s.Seen.Answers {
		if a.MemberID == 0 && len(a.Errors) > 0 && etcdclient.DeniedText(a.Errors[0]) && slices.Contains(s.electorate.Voters, a.Pod) {
			denied, count = a.Errors[0], count+1
		}
	}
	if count < plan.Quorum(len(s.electorate.Voters)) {
		return ""
	}
	return denied
}
