package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// BenchmarkScrape serves the metrics of 1,000 clusters, each with all series that it can have.
func BenchmarkScrape(b *testing.B) {
	for i := range 1000 {
		metrics.SetCluster("ns", fmt.Sprintf("c-%d", i), worst())
	}
	b.ReportAllocs()
	handler := promhttp.HandlerFor(registry.Registry, promhttp.HandlerOpts{})
	for b.Loop() {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/metrics", nil))
		if answer.Code != http.StatusOK {
			b.Fatal(answer.Code)
		}
		b.ReportMetric(float64(answer.Body.Len()), "body-bytes")
	}
	for i := range 1000 {
		metrics.ForgetCluster("ns", fmt.Sprintf("c-%d", i))
	}
}
