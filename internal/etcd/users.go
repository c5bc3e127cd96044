package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/authpb"

	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// accountTimeout is how long one request about users or roles may take. etcd hashes a password before it answers, which takes a tenth of
// a second or more.
const accountTimeout = 3 * time.Second

// Accounts reads and changes users and roles, by way of one member.
type Accounts struct{ client *etcdclient.Client }

// Administer connects to a member that is in contact with a quorum of the cluster with that ID, the first of these that is. The error is
// ErrNotYet if none is. Close the connection.
func Administer(ctx context.Context, config *tls.Config, clusterID uint64, endpoints []Endpoint) (*Accounts, error) {
	err := fmt.Errorf("%w: no voter runs", ErrNotYet)
	for _, e := range endpoints {
		client, dialErr := connect(config, e)
		if dialErr != nil {
			err = fmt.Errorf("%w: connect to %s: %w", ErrNotYet, e.Address, dialErr)
			continue
		}
		if err = confirms(ctx, client, clusterID); err == nil {
			return &Accounts{client}, nil
		}
		err = fmt.Errorf("%w: %s: %w", ErrNotYet, e.Pod, err)
		_ = client.Close()
	}
	return nil, err
}

// confirms asks a member for what takes a quorum.
func confirms(ctx context.Context, c *etcdclient.Client, clusterID uint64) error {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	list, err := c.Members(ctx)
	if err != nil {
		return err
	}
	if id := list.Header.GetClusterId(); id != clusterID {
		return fmt.Errorf("it is of cluster %016x, not of %016x", id, clusterID)
	}
	return nil
}

// Close closes the connection. Its error does not matter: it is not used again.
func (a *Accounts) Close() { _ = a.client.Close() }

// AuthEnabled reports whether etcd's authentication is on: also if it is, and etcd does not take the operator for root.
func (a *Accounts) AuthEnabled(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	enabled, err := a.client.AuthEnabled(ctx)
	if etcdclient.Denied(err) {
		return true, nil
	}
	return enabled, err
}

// User returns the roles of a user; found is false if there is none of that name.
func (a *Accounts) User(ctx context.Context, name string) (roles []string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	return a.client.User(ctx, name)
}

// Role returns the permissions of a role; found is false if there is none of that name.
func (a *Accounts) Role(ctx context.Context, name string) (permissions []access.Permission, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	all, found, err := a.client.Role(ctx, name)
	for _, p := range all {
		permissions = append(permissions, access.Permission{
			Range: access.Range{Key: string(p.Key), RangeEnd: string(p.RangeEnd)}, Rights: rightsOf(p.PermType),
		})
	}
	return permissions, found, err
}

// Roles returns the names of all roles.
func (a *Accounts) Roles(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	return a.client.Roles(ctx)
}

// Do makes one request. The password is that of the user that the call is about. No error holds it.
func (a *Accounts) Do(ctx context.Context, call access.Call, password string) error {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	if err := a.do(ctx, call, password); err != nil {
		return fmt.Errorf("%s: %w", access.Describe(call), err)
	}
	return nil
}

func (a *Accounts) do(ctx context.Context, call access.Call, password string) error {
	switch c := call.(type) {
	case access.AddUser:
		if c.Password != (password != "") { // one without a password is another user
			return errors.New("its password is unknown")
		}
		return a.client.AddUser(ctx, c.Name, password)
	case access.DeleteUser:
		return a.client.DeleteUser(ctx, c.Name)
	case access.SetPassword:
		return a.client.SetPassword(ctx, c.Name, password)
	case access.GrantRole:
		return a.client.GrantRole(ctx, c.User, c.Role)
	case access.RevokeRole:
		return a.client.RevokeRole(ctx, c.User, c.Role)
	case access.AddRole:
		return a.client.AddRole(ctx, c.Name)
	case access.DeleteRole:
		return a.client.DeleteRole(ctx, c.Name)
	case access.Grant:
		return a.client.GrantPermission(ctx, c.Role, &authpb.Permission{
			Key: []byte(c.Key), RangeEnd: []byte(c.RangeEnd), PermType: typeOf(c.Rights),
		})
	case access.Revoke:
		return a.client.RevokePermission(ctx, c.Role, c.Key, c.RangeEnd)
	}
	return nil
}

func rightsOf(t authpb.Permission_Type) access.Rights {
	switch t {
	case authpb.READ:
		return access.Read
	case authpb.WRITE:
		return access.Write
	case authpb.READWRITE:
	}
	return access.Read | access.Write
}

func typeOf(r access.Rights) authpb.Permission_Type {
	switch r {
	case access.Read:
		return authpb.READ
	case access.Write:
		return authpb.WRITE
	}
	return authpb.READWRITE
}
