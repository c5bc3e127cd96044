package etcdclient

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// root is the name of etcd's user, and of its role, that may do everything.
const root = "root"

// noPasswordUser is etcd's refusal to log in such a user, which has no error code (ErrNoPasswordUser in its package auth).
const noPasswordUser = "auth: authentication failed, password was given for no password user"

// ErrNoPassword says that a user was made without a password. etcd lets no such user have one later.
var ErrNoPassword = errors.New("etcd's user root was made without a password")

// errEmpty says that a password is empty: etcd takes such a one without complaint, and then anyone can log in.
var errEmpty = errors.New("the password is empty")

// Login returns a token by which every member knows the user in later requests, empty if authentication is off. It takes a quorum. If
// etcd refuses the user or the password, LoginRefused and Denied hold of the error. Each check of a password is expensive for etcd.
func (c *Client) Login(ctx context.Context, user, password string) (token string, err error) {
	answer, err := c.client.Authenticate(ctx, user, password)
	switch {
	case errors.Is(err, rpctypes.ErrAuthNotEnabled):
		return "", nil
	case rpctypes.ErrorDesc(err) == noPasswordUser:
		return "", fmt.Errorf("%w: %w", rpctypes.ErrAuthFailed, err)
	case err != nil:
		return "", err
	}
	return answer.Token, nil
}

// AuthEnabled reports whether authentication is on. If it is, and etcd does not take the client for root, Denied holds of the error. It
// costs two entries in etcd's log at most.
func (c *Client) AuthEnabled(ctx context.Context) (bool, error) {
	status, err := c.client.AuthStatus(ctx)
	if err != nil {
		return false, outcome(err)
	}
	if status.Enabled { // etcd 3.7 tells everyone
		_, err = c.client.RoleList(ctx)
	}
	return status.Enabled, outcome(err)
}

// EnableAuth makes the user root with this password and the role root, and switches authentication on. A user root that exists is made
// anew; if authentication is on already, it gets the password. The error wraps ErrNotYet if etcd refuses for now.
func (c *Client) EnableAuth(ctx context.Context, password string) error {
	if password == "" {
		return errEmpty
	}
	if _, err := c.client.RoleAdd(ctx, root); err != nil && !errors.Is(err, rpctypes.ErrRoleAlreadyExist) {
		return outcome(err)
	}
	switch _, err := c.client.UserDelete(ctx, root); {
	case errors.Is(err, rpctypes.ErrInvalidAuthMgmt): // it is on, and etcd keeps its root
		return c.ChangeRootPassword(ctx, password)
	case err != nil && !errors.Is(err, rpctypes.ErrUserNotFound):
		return outcome(err)
	}
	if _, err := c.client.UserAdd(ctx, root, password); err != nil {
		return outcome(err)
	}
	if _, err := c.client.UserGrantRole(ctx, root, root); err != nil {
		return outcome(err)
	}
	_, err := c.client.AuthEnable(ctx)
	return outcome(err)
}

// DisableAuth switches authentication off. It is no error if it is off.
func (c *Client) DisableAuth(ctx context.Context) error {
	_, err := c.client.AuthDisable(ctx)
	return outcome(err, rpctypes.ErrAuthNotEnabled)
}

// ChangeRootPassword changes root's password, which ends the sessions of everyone who has logged in with the former one. The error is
// ErrNoPassword if root was made without any.
func (c *Client) ChangeRootPassword(ctx context.Context, password string) error {
	if password == "" {
		return errEmpty
	}
	if _, err := c.client.UserChangePassword(ctx, root, password); err != nil {
		return outcome(err)
	}
	// etcd answers the same whether or not the user can have a password.
	_, err := c.client.Authenticate(ctx, root, password)
	if rpctypes.ErrorDesc(err) == noPasswordUser {
		return ErrNoPassword
	}
	return outcome(err, rpctypes.ErrAuthNotEnabled)
}
