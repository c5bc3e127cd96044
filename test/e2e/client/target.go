package main

import (
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/health" // without it gRPC asks nobody
)

// target is where connections lead to.
type target struct {
	// endpoints are separated by commas.
	endpoints string
	// folder has certificates and endpoints, if any: see link and configOf.
	folder string
	// health is true if members are asked by gRPC's health service whether they serve.
	health bool
}

// A connection that leads to a member whose process is frozen is given up after both together. gRPC pings no more often
// than every 10 s, whatever it is told (google.golang.org/grpc/internal.KeepaliveMinPingTime).
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 2 * time.Second
)

// connect makes a connection of its own, which the Service may lead to any member.
func (t target) connect() (*clientv3.Client, error) {
	config := clientv3.Config{
		Endpoints:            strings.Split(t.endpoints, ","),
		TLS:                  configOf(t.folder),
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
	}
	if t.health {
		// Those of the endpoints that serve take turns. etcd's client would have gRPC do without the question: docs/autopilot.md shows the same.
		config.DialOptions = []grpc.DialOption{
			grpc.WithDisableServiceConfig(),
			grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}`),
		}
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return client, nil
}
