package etcdclient

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// User returns the roles of a user; found is false if there is none of that name. etcd proposes it to raft, like a change.
func (c *Client) User(ctx context.Context, name string) (roles []string, found bool, err error) {
	answer, err := c.client.UserGet(ctx, name)
	if errors.Is(err, rpctypes.ErrUserNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, outcome(err)
	}
	return answer.Roles, true, nil
}

// Role returns the permissions of a role; found is false if there is none of that name. etcd proposes it to raft, like a change.
func (c *Client) Role(ctx context.Context, name string) (permissions []*authpb.Permission, found bool, err error) {
	answer, err := c.client.RoleGet(ctx, name)
	if errors.Is(err, rpctypes.ErrRoleNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, outcome(err)
	}
	return answer.Perm, true, nil
}

// Roles returns the names of all roles. etcd proposes it to raft, like a change.
func (c *Client) Roles(ctx context.Context) ([]string, error) {
	answer, err := c.client.RoleList(ctx)
	if err != nil {
		return nil, outcome(err)
	}
	return answer.Roles, nil
}

// AddUser creates a user with that password, or one that can log in with a certificate only if it is empty. It is an error if there is
// one already: who is to say what its password is.
func (c *Client) AddUser(ctx context.Context, name, password string) error {
	_, err := c.client.UserAddWithOptions(ctx, name, password, &clientv3.UserAddOptions{NoPassword: password == ""})
	return outcome(err)
}

// DeleteUser deletes a user. It is no error if it is gone already.
func (c *Client) DeleteUser(ctx context.Context, name string) error {
	_, err := c.client.UserDelete(ctx, name)
	return outcome(err, rpctypes.ErrUserNotFound)
}

// SetPassword gives a user another password. One that was created without keeps none, and etcd does not say so.
func (c *Client) SetPassword(ctx context.Context, name, password string) error {
	if password == "" {
		return errEmpty
	}
	_, err := c.client.UserChangePassword(ctx, name, password)
	return outcome(err)
}

// GrantRole gives a user a role. It is no error if the user has it already.
func (c *Client) GrantRole(ctx context.Context, user, role string) error {
	_, err := c.client.UserGrantRole(ctx, user, role)
	return outcome(err)
}

// RevokeRole takes a role from a user. It is no error if the user does not have it.
func (c *Client) RevokeRole(ctx context.Context, user, role string) error {
	_, err := c.client.UserRevokeRole(ctx, user, role)
	return outcome(err, rpctypes.ErrRoleNotGranted)
}

// AddRole creates a role without permissions. It is no error if it exists.
func (c *Client) AddRole(ctx context.Context, name string) error {
	_, err := c.client.RoleAdd(ctx, name)
	return outcome(err, rpctypes.ErrRoleAlreadyExist)
}

// DeleteRole deletes a role, and takes it from all users. It is no error if it is gone already.
func (c *Client) DeleteRole(ctx context.Context, name string) error {
	_, err := c.client.RoleDelete(ctx, name)
	return outcome(err, rpctypes.ErrRoleNotFound)
}

// GrantPermission gives a role a permission.
func (c *Client) GrantPermission(ctx context.Context, role string, p *authpb.Permission) error {
	_, err := c.client.RoleGrantPermission(ctx, role, string(p.Key), string(p.RangeEnd), clientv3.PermissionType(p.PermType))
	return outcome(err)
}

// RevokePermission takes all permissions for a range from a role. It is no error if it has none.
func (c *Client) RevokePermission(ctx context.Context, role, key, rangeEnd string) error {
	_, err := c.client.RoleRevokePermission(ctx, role, key, rangeEnd)
	return outcome(err, rpctypes.ErrPermissionNotGranted)
}
