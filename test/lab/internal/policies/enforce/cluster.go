package enforce

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// fresh is how long what the cluster has said is used: connections that come together share one look at it. A pod may have an address
// for that long before its labels count.
const fresh = 200 * time.Millisecond

// Cluster decides by what the cluster says at the moment. It may be used from several goroutines.
type Cluster struct {
	// Client speaks to the API as an administrator.
	Client *http.Client
	// Server is the address of the API.
	Server string
	// Log gets a line for each connection that is refused, and for each failure to ask the cluster.
	Log io.Writer

	mu   sync.Mutex
	read time.Time
	last *view
}

// allow decides about a connection. While the API is away it is by what the cluster said last; before it has said anything, nothing is
// allowed.
func (c *Cluster) allow(ctx context.Context, packet []byte) bool {
	asked, ok := parse(packet)
	if !ok { // no NetworkPolicy is about it
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || time.Since(c.read) > fresh {
		if now, err := c.look(ctx); err == nil {
			c.last, c.read = now, time.Now()
		} else {
			_, _ = fmt.Fprintln(c.Log, err)
		}
	}
	allowed := c.last != nil && c.last.allows(asked)
	if !allowed {
		_, _ = fmt.Fprintf(c.Log, "refused: %s to %s, %s %d\n", asked.from, asked.to, asked.protocol, asked.port)
	}
	return allowed
}

func (c *Cluster) look(ctx context.Context) (*view, error) {
	var policies networkingv1.NetworkPolicyList
	var pods corev1.PodList
	var namespaces corev1.NamespaceList
	for path, list := range map[string]any{
		"/apis/networking.k8s.io/v1/networkpolicies": &policies, "/api/v1/pods": &pods, "/api/v1/namespaces": &namespaces,
	} {
		// Version 0 is what the API server has in memory.
		if err := c.get(ctx, path+"?resourceVersion=0", list); err != nil {
			return nil, err
		}
	}
	return newView(policies.Items, pods.Items, namespaces.Items), nil
}

func (c *Cluster) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Server+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: the API answers %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	return nil
}
