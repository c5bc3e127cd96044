package etcd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// packed is a text as etcd sends it.
func packed(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// serving is the address of a server that answers with that body, and says of it that it is packed or not.
func serving(t *testing.T, body []byte, packed bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if packed {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestAnswers reads answers of all kinds, each many times at once: what is reused is of one reader at a time.
func TestAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("# etcd\n", 30_000) + "etcd_server_leader_changes_seen_total "
	for name, c := range map[string]struct {
		body   func(n int) []byte
		packed bool
		want   string // of the error, none if the number in the answer is read
	}{
		"packed":              {body: func(n int) []byte { return packed(t, fmt.Sprint(long, n, "\n")) }, packed: true},
		"as it is":            {body: func(n int) []byte { return fmt.Append(nil, long, n, "\n") }},
		"cut off":             {body: func(int) []byte { all := packed(t, long); return all[:len(all)/2] }, packed: true, want: "unexpected EOF"},
		"not packed":          {body: func(int) []byte { return []byte("# etcd\n# etcd\n") }, packed: true, want: "unpack: gzip: invalid header"},
		"too large":           {body: func(int) []byte { return bytes.Repeat([]byte{0}, packedLimit+1) }, packed: true, want: "larger than 65536 bytes"},
		"too large as it is":  {body: func(n int) []byte { return fmt.Append(nil, strings.Repeat("# etcd\n", metricsLimit/7+1), long, n) }, want: "no elections"},
		"too large when read": {body: func(n int) []byte { return packed(t, strings.Repeat("# etcd\n", metricsLimit/7+1)+fmt.Sprint(long, n)) }, packed: true, want: "no elections"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const readers = 20
			var wg sync.WaitGroup
			for n := range readers {
				address := serving(t, c.body(n+1), c.packed)
				wg.Go(func() {
					f := &figures{}
					err := readMetrics(t.Context(), address, f.scan)
					if err == nil && f.elections == 0 {
						err = fmt.Errorf("no elections")
					}
					switch {
					case c.want == "" && (err != nil || f.elections != float64(n+1)):
						t.Errorf("reader %d: %v elections, %v", n+1, f.elections, err)
					case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
						t.Errorf("reader %d: %v, want %s", n+1, err, c.want)
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestSlowAnswersKeepNoUnpacker has more members than there are unpackers send half of what they have to say, and then one all of it.
func TestSlowAnswersKeepNoUnpacker(t *testing.T) {
	t.Parallel()
	body, halves, stop := packed(t, "etcd_server_leader_changes_seen_total 7\n"), make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush() //nolint:forcetypeassert // as each of a server is
		halves <- struct{}{}
		<-stop
	}))
	t.Cleanup(slow.Close)
	quick := serving(t, body, true)
	var wg sync.WaitGroup
	for range unpacking + 1 {
		wg.Go(func() {
			if err := readMetrics(t.Context(), strings.TrimPrefix(slow.URL, "http://"), (&figures{}).scan); err == nil {
				t.Error("half an answer was read as one")
			}
		})
	}
	for range unpacking + 1 {
		<-halves
	}
	f := &figures{}
	if err := readMetrics(t.Context(), quick, f.scan); err != nil || f.elections != 7 {
		t.Errorf("%v elections, %v", f.elections, err)
	}
	close(stop)
	wg.Wait()
}

// TestLargeAnswersKeepNobodyWaiting has many members answer with what is small to send and as large as is read, and asks one more for its metrics.
func TestLargeAnswersKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	large := serving(t, packed(t, strings.Repeat("# etcd\n", 8<<20/7)), true)
	usual := serving(t, packed(t, "etcd_server_leader_changes_seen_total 7\n"), true)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 * unpacking {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = readMetrics(t.Context(), large, (&figures{}).scan) // whatever comes of it
				}
			}
		})
	}
	for range 5 {
		f := &figures{}
		if err := readMetrics(t.Context(), usual, f.scan); err != nil || f.elections != 7 {
			t.Errorf("%v elections, %v", f.elections, err)
		}
	}
	close(stop)
	wg.Wait()
}
