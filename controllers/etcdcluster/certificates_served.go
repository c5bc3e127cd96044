package etcdcluster

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// servedTimeout is how long a member may take to show its certificate.
const servedTimeout = time.Second

// served asks the members which certificates they serve, all at the same time. One that does not answer is not in the result.
func served(ctx context.Context, p *pass) map[string]certificates.Served {
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	all := map[string]certificates.Served{}
	for name, pod := range p.pods {
		if pod.Status.PodIP == "" {
			continue
		}
		wg.Go(func() {
			t := resources.PodTransport(pod)
			peer := fingerprint(ctx, t.ServesPeerTLS(), pod.Status.PodIP, t.PeerTLSPort())
			client := fingerprint(ctx, t.ServesClientTLS(), pod.Status.PodIP, member.ClientPort)
			mu.Lock()
			defer mu.Unlock()
			all[name] = certificates.Served{Peer: peer, Client: client}
		})
	}
	wg.Wait()
	return all
}

// fingerprint is that of the certificate that is served there, empty if none is, or if nobody answers.
func fingerprint(ctx context.Context, tls bool, ip string, port int) string {
	if !tls {
		return ""
	}
	served, err := etcd.Served(ctx, net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return ""
	}
	return served
}
