package agentpod

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestReadProgress wants nothing to be believed but what an agent says.
func TestReadProgress(t *testing.T) {
	for title, c := range map[string]struct {
		code int
		body string
		want *task.Progress
	}{
		"an agent":         {http.StatusOK, `{"step":"Reading","bytes":9000000000}`, &task.Progress{Step: task.StepReading, Bytes: 9000000000}},
		"another step":     {http.StatusOK, `{"step":"Mining","bytes":1}`, nil},
		"negative":         {http.StatusOK, `{"step":"Reading","bytes":-1}`, nil},
		"no JSON":          {http.StatusOK, `<html>`, nil},
		"an error":         {http.StatusNotFound, `{"step":"Reading","bytes":1}`, nil},
		"elsewhere":        {http.StatusFound, `{"step":"Reading","bytes":1}`, nil},
		"without an end":   {http.StatusOK, `{"step":"` + strings.Repeat("x", 1<<20), nil},
		"nothing was read": {http.StatusOK, ``, nil},
	} {
		t.Run(title, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			got, ok := readProgress(t.Context(), server.URL)
			if ok != (c.want != nil) || ok && got != *c.want {
				t.Errorf("got %+v, %t; want %+v", got, ok, c.want)
			}
		})
	}
}
