package storetest

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// startTimeout is generous, for machines that run many tests at once.
const startTimeout = time.Minute

// asset is the program that a variable names, which `make test-unit` sets.
func asset(t testing.TB, variable string) string {
	t.Helper()
	program := os.Getenv(variable)
	if program == "" {
		t.Fatalf("%s is not set: run this with `make test-unit`", variable)
	}
	return program
}

// run runs a server until the test ends.
func run(t testing.TB, environment []string, program string, args ...string) {
	t.Helper()
	//nolint:noctx // it ends with the test, whose context ends too early
	server := exec.Command(program, args...)
	server.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environment...)
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
}

// waitReady waits until something is served at the URL, and says so where it can.
func waitReady(t testing.TB, web *http.Client, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := web.Do(request)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode < http.StatusInternalServerError {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is not ready after %s: %v", url, startTimeout, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// FreeAddress is one on the loopback interface that no one listens at.
func FreeAddress(t testing.TB) string {
	t.Helper()
	config := net.ListenConfig{}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
