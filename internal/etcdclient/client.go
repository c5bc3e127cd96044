// Package etcdclient wraps etcd's client: how a member is dialed, the requests, and what its errors mean. The operator's requests to
// members (package etcd) and the agents' (package snapshot) go through it.
//
// A change that etcd refuses for the moment is ErrNotYet, and one that was made already is a success: a retry after a lost answer has
// the same result.
package etcdclient

import (
	"crypto/tls"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// Config says how members are reached.
type Config = clientv3.Config

// Client is a client of one or more members.
type Client struct{ client *clientv3.Client }

// Reach is the Config for client URLs, with TLS unless that is nil. The client does not log, and ignores proxies: HTTPS_PROXY is for
// external addresses.
func Reach(config *tls.Config, endpoints ...string) Config {
	return Config{
		Endpoints: endpoints, TLS: config, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithNoProxy()},
	}
}

// ReachMember is the Config for the one member at an address, host:port, whose certificate must carry that name, with TLS unless that is nil.
// The name is needed because the address says nothing of who is there: it is a pod's, or of a tunnel that leads to one.
func ReachMember(config *tls.Config, address, name string) Config {
	scheme := "http"
	if config != nil {
		scheme, config = "https", config.Clone()
		config.ServerName = name
	}
	to := Reach(config, scheme+"://"+address)
	// etcd's client verifies the address rather than the configuration's ServerName, unless it is told here, too.
	to.DialOptions = append(to.DialOptions, grpc.WithAuthority(name))
	return to
}

// Dial creates a client, which connects with the first request: a member that does not exist yet costs nothing here. The Config's
// limit of an answer, in bytes, applies to every answer. It fails if the Config is invalid, for example if an endpoint is not a URL.
func Dial(config Config) (*Client, error) {
	if limit := config.MaxCallRecvMsgSize; limit > 0 {
		// etcd's client has it among the options that it gives each call of its own. Status is not one of them.
		ofAll := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limit))
		config.DialOptions = append(slices.Clip(config.DialOptions), ofAll)
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, err
	}
	return &Client{client: client}, nil
}

// Close closes the connection, and cancels its requests.
func (c *Client) Close() error { return c.client.Close() }

// Connected reports whether a server accepts connections there, whether or not it answers.
func (c *Client) Connected() bool {
	return c.client.ActiveConnection().GetState() == connectivity.Ready
}
