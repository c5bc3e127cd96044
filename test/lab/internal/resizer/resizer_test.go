package resizer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const claimText = `{"type":"%s","object":{"metadata":{"namespace":"n","name":"%s"},
"spec":{"storageClassName":"%s","volumeName":"v","resources":{"requests":{"storage":"2Gi"}}},
"status":{"phase":"%s","capacity":{"storage":"%s"}}}}
`

func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var patches []string
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodGet {
			for _, args := range [][]any{
				{"ADDED", "small", "growing", "Bound", "2Gi"},
				{"ADDED", "other", "standard", "Bound", "1Gi"},
				{"ADDED", "pending", "growing", "Pending", ""},
				{"DELETED", "deleted", "growing", "Bound", "1Gi"},
				{"MODIFIED", "grows", "growing", "Bound", "1Gi"},
			} {
				_, _ = fmt.Fprintf(writer, claimText, args...)
			}
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		patches = append(patches, request.URL.Path+" "+string(body))
		if strings.HasSuffix(request.URL.Path, "/status") {
			cancel() // It is the last one.
		}
	}))
	defer server.Close()
	resizer := Resizer{Client: server.Client(), Server: server.URL, Class: "growing", Log: io.Discard}
	if err := resizer.Run(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`/api/v1/persistentvolumes/v {"spec":{"capacity":{"storage":"2Gi"}}}`,
		`/api/v1/namespaces/n/persistentvolumeclaims/grows/status {"status":{"capacity":{"storage":"2Gi"}}}`,
	}
	if !slices.Equal(patches, want) {
		t.Errorf("the patches are %q, want %q", patches, want)
	}
}

func TestRunSaysWhatFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodGet {
			_, _ = fmt.Fprintf(writer, claimText, "ADDED", "grows", "growing", "Bound", "1Gi")
			return
		}
		http.Error(writer, "no such volume", http.StatusNotFound)
	}))
	defer server.Close()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Resizer{Client: server.Client(), Server: server.URL, Class: "growing", Log: writer}.Run(ctx)
	}()
	said := make([]byte, 1024)
	length, err := reader.Read(said)
	if err != nil || !strings.Contains(string(said[:length]), "no such volume") {
		t.Errorf("it says %q, %v", said[:length], err)
	}
	cancel()
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
