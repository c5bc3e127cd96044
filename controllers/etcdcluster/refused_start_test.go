package etcdcluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestFirstStartRefused has a quota with room for two of the first three pods: these start, serve clients, and Degraded names the third.
func TestFirstStartRefused(t *testing.T) {
	w := newRefusingWorld(t)
	w.refuse = func(_ context.Context, verb, kind, name string) error {
		if verb+kind+name != "createPodc-2" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, errors.New("exceeded quota: q"))
	}
	w.until(t, "served by two", func() bool { return slices.Equal(w.serving(t), []string{"c-0", "c-1"}) })
	w.until(t, "told", func() bool {
		return strings.Contains(w.says(t, v1beta2.ConditionDegraded).Message, "the API server refuses to create Pod c-2: ")
	})
}
