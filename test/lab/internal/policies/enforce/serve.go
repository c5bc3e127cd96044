package enforce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/florianl/go-nfqueue/v2"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/policies"
)

// Serve decides about connections until the context ends. It runs in the network namespace of a node.
func Serve(ctx context.Context, cluster *Cluster) error {
	// As much of a packet as the longest header and the ports take.
	const packets, bytes, writeTimeout = 1 << 12, 64, time.Second
	queue, err := nfqueue.Open(&nfqueue.Config{
		NfQueue: policies.Queue, MaxQueueLen: packets, MaxPacketLen: bytes, Copymode: nfqueue.NfQnlCopyPacket, WriteTimeout: writeTimeout,
	})
	if err != nil {
		return fmt.Errorf("open the queue of packets: %w", err)
	}
	defer func() { _ = queue.Close() }()
	failed := make(chan error, 1)
	report := func(err error) int {
		var timeout interface{ Timeout() bool }
		if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
			return 0
		}
		select {
		case failed <- err:
		default:
		}
		return 1
	}
	err = queue.RegisterWithErrorFunc(ctx, func(packet nfqueue.Attribute) int {
		if packet.PacketID == nil || packet.Payload == nil {
			return 0
		}
		verdict := nfqueue.NfDrop
		if cluster.allow(ctx, *packet.Payload) {
			verdict = nfqueue.NfAccept
		}
		return report(queue.SetVerdict(*packet.PacketID, verdict))
	}, report)
	if err != nil {
		return fmt.Errorf("bind the queue of packets: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("decide about packets: %w", err)
	}
}
