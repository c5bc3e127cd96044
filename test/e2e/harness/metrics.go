package harness

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Metric is the value of one of the etcd metrics of a member: the name, and the labels as etcd writes them if it has some.
func (c *Cluster) Metric(ctx context.Context, pod, name string) (float64, error) {
	body, err := c.Kube.CoreV1().RESTClient().Get().Namespace(c.Namespace).
		Resource("pods").Name(pod + ":2381").SubResource("proxy").Suffix("metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask %s for its metrics: %w", pod, err)
	}
	for line := range strings.Lines(string(body)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s has no metric %s", pod, name)
}
