package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
)

// Defragment has one member write its database anew, without the free pages, and returns once it has: nothing but the context limits how
// long that takes. The member serves nobody meanwhile, so whoever asks for it knows that the others are a quorum.
func (p *Pool) Defragment(ctx context.Context, cluster string, config *tls.Config, e Endpoint) error {
	client, err := p.client(cluster, config, e)
	if err != nil {
		return err
	}
	if err := client.Defragment(ctx); err != nil {
		return fmt.Errorf("defragment %s: %w", e.Pod, err)
	}
	return nil
}
