package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// healthLimit is how many bytes are read of what a member says of its health: a member's are some 40.
const healthLimit = 4 << 10

// Alarmed reports whether etcd has an alarm, by what one of these members says of its health. The first one that answers speaks for all, because they agree
// on alarms. It is the cheapest question that tells: plain HTTP, where metrics are served, with no connection kept.
func Alarmed(ctx context.Context, members []Endpoint) bool {
	for _, e := range members {
		if e.Metrics == "" {
			continue
		}
		if reason, err := unhealthy(ctx, e.Metrics); err == nil {
			return strings.HasPrefix(reason, "ALARM ")
		}
	}
	return false
}

// unhealthy is why a member calls itself not healthy, empty if it does not. Serializable, it need not ask the others. etcd has looked at its alarms by then.
func unhealthy(ctx context.Context, address string) (reason string, err error) {
	response, err := get(ctx, address, "/health?serializable=true", "its health")
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var said struct {
		Reason string `json:"reason"`
	}
	err = readAnswer(ctx, response, func(text io.Reader) error { return json.NewDecoder(io.LimitReader(text, healthLimit)).Decode(&said) })
	if err != nil {
		return "", fmt.Errorf("read the health of %s: %w", address, err)
	}
	return said.Reason, nil
}
