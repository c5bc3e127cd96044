package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/florianl/go-nfqueue/v2"
	"github.com/mdlayher/netlink"
)

// Queue is the number of the kernel's queue. Each network namespace has its own.
const Queue = 4711

// Fault is what is wrong with a link, in each direction.
type Fault struct {
	// Latency is added to the way of each packet; it is not negative.
	Latency time.Duration
	// Loss is the share of packets that are dropped, from 0 to 1.
	Loss float64
}

// Check returns an error if the fault cannot be.
func (f Fault) Check() error {
	if f.Latency < 0 || f.Latency > time.Minute {
		return fmt.Errorf("a latency is from 0 to 1m, not %v", f.Latency)
	}
	if !(f.Loss >= 0 && f.Loss <= 1) {
		return fmt.Errorf("a loss is from 0 to 1, not %v", f.Loss)
	}
	return nil
}

// held is a packet that waits for its time.
type held struct {
	id    uint32
	until time.Time
}

// Serve lets packets go on late, or not at all, until the context ends. It runs in the network namespace of a node.
func Serve(ctx context.Context, fault Fault) error {
	// The kernel's own limit of 1024 packets would be met by a latency alone. A full queue lets packets pass.
	const packets, socketBytes, writeTimeout = 1 << 16, 8 << 20, time.Second
	queue, err := nfqueue.Open(&nfqueue.Config{
		NfQueue: Queue, MaxQueueLen: packets, Copymode: nfqueue.NfQnlCopyMeta, Flags: nfqueue.NfQaCfgFlagFailOpen,
		WriteTimeout: writeTimeout,
	})
	if err != nil {
		return fmt.Errorf("open the queue of packets: %w", err)
	}
	defer func() { _ = queue.Close() }()
	if err := queue.Con.SetReadBuffer(socketBytes); err != nil {
		return fmt.Errorf("size the queue of packets: %w", err)
	}
	// A packet whose message is lost would wait forever: the kernel drops it only if it is told of the loss.
	if err := queue.SetOption(netlink.NoENOBUFS, true); err != nil {
		return fmt.Errorf("prepare the queue of packets: %w", err)
	}
	waiting := make(chan held, packets)
	failed := make(chan error, 1)
	take := func(packet nfqueue.Attribute) int {
		if packet.PacketID == nil {
			return 0
		}
		if rand.Float64() < fault.Loss { // #nosec G404 -- no secret
			return report(failed, queue.SetVerdict(*packet.PacketID, nfqueue.NfDrop))
		}
		waiting <- held{*packet.PacketID, time.Now().Add(fault.Latency)}
		return 0
	}
	err = queue.RegisterWithErrorFunc(ctx, take, func(err error) int { return report(failed, err) })
	if err != nil {
		return fmt.Errorf("bind the queue of packets: %w", err)
	}
	return release(ctx, queue, waiting, failed)
}

// release lets each packet go on at its time. They came in order, and all wait equally long.
func release(ctx context.Context, queue *nfqueue.Nfqueue, waiting <-chan held, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return fmt.Errorf("hold packets: %w", err)
		case packet := <-waiting:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Until(packet.until)):
			}
			if err := queue.SetVerdict(packet.id, nfqueue.NfAccept); err != nil {
				return fmt.Errorf("let a packet go on: %w", err)
			}
		}
	}
}

// report hands on an error that ends the work, and says whether there is one.
func report(failed chan<- error, err error) int {
	var timeout interface{ Timeout() bool }
	if err == nil || (errors.As(err, &timeout) && timeout.Timeout()) {
		return 0
	}
	select {
	case failed <- err:
	default:
	}
	return 1
}
