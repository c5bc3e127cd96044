package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// roundTrips is what etcd counts of these, first half a minute after it has reached another member.
	roundTrips = "etcd_network_peer_round_trip_time_seconds_bucket{"
	// realLimit is how long real servers may take until they count all that members count.
	realLimit = 2 * time.Minute
)

// realMetrics are what a real member of a cluster of three serves as its metrics. Its servers run for half a minute at most, if the machine is not
// busy, and have ended when this returns.
func realMetrics(ctx context.Context, dir string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, realLimit)
	url, started, err := startReal(ctx, dir)
	defer func() {
		cancel() // kills them
		for _, cmd := range started {
			_ = cmd.Wait()
		}
	}()
	if err != nil {
		return "", err
	}
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		body, err := get(ctx, http.DefaultClient, url+"/metrics", "")
		text = string(body)
		return err == nil && strings.Contains(text, roundTrips), nil
	})
	if err != nil {
		return "", fmt.Errorf("read the metrics of a real etcd: %w", err)
	}
	return text, nil
}

// startReal starts servers that end with the context, and returns them, also those that were started before it failed, and where the first one
// serves clients.
func startReal(ctx context.Context, dir string) (url string, started []*exec.Cmd, err error) {
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		return "", nil, errors.New("TEST_ASSET_ETCD is not set: it is the path of etcd")
	}
	var clients, peers [size]string
	var members []string
	for i := range size {
		for _, address := range []*string{&clients[i], &peers[i]} {
			free, err := freeAddress(ctx)
			if err != nil {
				return "", nil, err
			}
			*address = "http://" + free
		}
		members = append(members, fmt.Sprintf("m%d=%s", i, peers[i]))
	}
	for i := range size {
		name := fmt.Sprintf("m%d", i)
		cmd := exec.CommandContext(ctx, program, "--name", name, "--data-dir", filepath.Join(dir, name), //nolint:gosec // whoever runs this says which
			"--listen-client-urls", clients[i], "--advertise-client-urls", clients[i], "--listen-peer-urls", peers[i],
			"--initial-advertise-peer-urls", peers[i], "--initial-cluster", strings.Join(members, ","))
		if err := cmd.Start(); err != nil {
			return "", started, fmt.Errorf("start etcd: %w", err)
		}
		started = append(started, cmd)
	}
	return clients[0], started, nil
}
