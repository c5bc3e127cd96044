// Package etcdclient is what knows etcd's client: how a member is dialed, what it is asked, and what its errors mean. The
// operator's conversation with members (package etcd) and the agents' (package snapshot) go through it.
//
// A change that etcd refuses for the moment is ErrNotYet, and one that has happened already is a success: whoever asks again after
// a lost answer gets the same result.
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

// Client leads to members.
type Client struct{ client *clientv3.Client }

// Reach is the Config for client URLs, over TLS unless it is nil. The client writes no log, and asks no proxy: HTTPS_PROXY is for
// what is outside.
func Reach(config *tls.Config, endpoints ...string) Config {
	return Config{
		Endpoints: endpoints, TLS: config, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithNoProxy()},
	}
}

// Dial makes a client. It connects when it is first asked: a member that is not there yet costs nothing here. The Config's limit of
// an answer, in bytes, is that of every answer. It fails for what of the Config cannot be used, such as an endpoint that is no URL.
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

// Close ends the connection, and whatever is still asked over it.
func (c *Client) Close() error { return c.client.Close() }

// Connected reports whether a server accepts connections there, whether or not it answers.
func (c *Client) Connected() bool {
	return c.client.ActiveConnection().GetState() == connectivity.Ready
}
