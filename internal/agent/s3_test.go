package agent

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestS3 asks one real server for everything: it takes seconds to start.
func TestS3(t *testing.T) {
	server := storetest.StartMinIO(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *storetest.MinIO)
	}{
		{"round trip", func(t *testing.T, m *storetest.MinIO) { roundTrip(t, s3Pod(t, m, m.Credentials), kinds) }},
		{"refused", testS3Refused},
		{"ended", testS3Ended},
		{"unreadable", testS3Unreadable},
		{"locked", testS3Locked},
		{"held", testS3Held},
		{"unread", testS3Unread},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, server) })
	}
}

// s3Pod has its storage on the server.
func s3Pod(t *testing.T, m *storetest.MinIO, c blobstore.Credentials) *pod {
	t.Helper()
	p := newPod(t)
	p.storage = v1beta2.Storage{
		URL: m.Target.URL + "/" + strings.ReplaceAll(t.Name(), "/", "-"), Endpoint: m.Target.Endpoint,
		ForcePathStyle: true, CredentialsSecretRef: v1beta2.SecretRef{Name: "s3"}, CABundleRef: v1beta2.CABundleRef{Name: "authority"},
	}
	p.secret(p.dirs.CA, map[string][]byte{task.KeyCA: m.Target.CA})
	p.secret(p.dirs.Credentials, c)
	return p
}

// testS3Refused says what is wrong, and no credentials.
func testS3Refused(t *testing.T, m *storetest.MinIO) {
	s := start(t)
	s.put(t, 1)
	wrong := blobstore.Credentials{"access-key-id": m.Credentials["access-key-id"], "secret-access-key": []byte("not-the-right-one")}
	reader := m.User(t, "agent-reader", "s3:GetObject", "s3:ListBucket")
	for title, c := range map[string]struct {
		credentials blobstore.Credentials
		change      func(*pod)
		reason      string
	}{
		"another key":  {wrong, func(*pod) {}, v1beta2.ReasonStorageCredentialsRefused},
		"read only":    {reader, func(*pod) {}, v1beta2.ReasonStorageReadOnly},
		"no bucket":    {m.Credentials, func(p *pod) { p.storage.URL = "s3://nothing" }, v1beta2.ReasonNoSuchBucket},
		"no authority": {m.Credentials, func(p *pod) { p.storage.CABundleRef.Name = "" }, v1beta2.ReasonStorageNotTrusted},
	} {
		p := s3Pod(t, m, c.credentials)
		c.change(p)
		message := p.fails(s.backup(plain), c.reason, true)
		for _, secret := range []blobstore.Credentials{c.credentials, m.Credentials} {
			if strings.Contains(message, string(secret["secret-access-key"])) {
				t.Errorf("%s: %q", title, message)
			}
		}
	}
	gone := s3Pod(t, m, m.Credentials)
	gone.storage.URL = "s3://nothing"
	gone.must(task.Task{Clean: &task.Clean{}}) // there is nothing to clean
}

// testS3Locked backs up to a bucket that keeps every version for a day, prunes and cleans there.
func testS3Locked(t *testing.T, m *storetest.MinIO) {
	target := m.Locked(t)
	s, p := start(t), s3Pod(t, m, m.Credentials)
	p.storage.URL = target.URL + "/agent"
	last := func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }
	s.put(t, 1)
	first := p.must(s.backup(last))
	s.put(t, 2)
	second := p.must(s.backup(last))
	if second.Total != 1 || !slices.Equal(second.Deleted, []string{first.Snapshot.Name}) {
		t.Errorf("of %s it left %+v", first.Snapshot.Name, second)
	}
	if got := p.must(task.Task{Clean: &task.Clean{}}); !slices.Equal(got.Deleted, []string{second.Snapshot.Name}) {
		t.Errorf("cleaned %+v", got)
	}
	if got := p.must(task.Task{Clean: &task.Clean{}}); len(got.Deleted) > 0 {
		t.Errorf("cleaned again: %+v", got)
	}
}

// testS3Unread has credentials that may write and list, and not read. It is said, and what to allow; nothing older is deleted.
func testS3Unread(t *testing.T, m *storetest.MinIO) {
	s, p := start(t), s3Pod(t, m, m.Credentials)
	s.put(t, 1)
	p.must(s.backup(plain))
	none := s3Pod(t, m, m.UserBlind(t, "agent-none", ""))
	none.storage.URL = p.storage.URL
	s.put(t, 1)
	if f := none.run(s.backup(plain)).Failure; f == nil || f.Reason != v1beta2.ReasonStorageAccessDenied || !strings.Contains(f.Message, "may not read the object") {
		t.Errorf("of nothing that may be read: %+v", f)
	}
	blind := s3Pod(t, m, m.UserBlind(t, "agent-blind", ".db.zst"))
	blind.storage.URL = p.storage.URL
	last := func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }
	result := blind.run(s.backup(last))
	f := result.Failure
	if f == nil || f.Reason != v1beta2.ReasonBackupUnverified || !f.Terminal || result.Snapshot == nil || len(result.Deleted) > 0 {
		t.Fatalf("got %+v, %+v", f, result)
	}
	for _, want := range []string{"may not read the object", "s3:GetObject", "no older one is deleted"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("it says %q, want %q", f.Message, want)
		}
	}
	s.put(t, 1)
	if result := p.must(s.backup(last)); len(result.Deleted) != 2 || result.Total != 1 {
		t.Errorf("once it may read it has deleted %v", result.Deleted)
	}
}

// testS3Held has the storage hold the oldest backup. Nothing else is kept for it, when old ones are deleted and when all are.
func testS3Held(t *testing.T, m *storetest.MinIO) {
	s, p := start(t), s3Pod(t, m, m.Credentials)
	var names []string
	for range 3 {
		s.put(t, 1)
		names = append(names, p.must(s.backup(plain)).Snapshot.Name)
	}
	held := s3Pod(t, m, m.UserHeld(t, "agent-held", names[0]))
	held.storage.URL = p.storage.URL
	s.put(t, 1)
	result := held.run(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }))
	if result.Failure != nil || !slices.Equal(result.Deleted, names[1:]) || result.Total != 2 || len(result.Warnings) != 1 {
		t.Fatalf("pruned %+v, %+v", result, result.Failure)
	}
	last := result.Snapshot.Name
	result = held.run(task.Task{Clean: &task.Clean{}})
	if f := result.Failure; f == nil || f.Reason != v1beta2.ReasonStorageReadOnly || !slices.Equal(result.Deleted, []string{last}) {
		t.Errorf("cleaned %+v, %+v", result, f)
	}
	if result := p.must(task.Task{Clean: &task.Clean{}}); !slices.Equal(result.Deleted, names[:1]) {
		t.Errorf("cleaned the rest: %+v", result)
	}
}

// testS3Ended ends a backup after its first parts were sent. Neither an object nor a part may be left.
func testS3Ended(t *testing.T, m *storetest.MinIO) {
	s, p := start(t), s3Pod(t, m, m.Credentials)
	value := make([]byte, 1<<20)
	for i := range 48 {
		_, _ = rand.Read(value)
		if _, err := s.Put(t.Context(), strconv.Itoa(i), string(value)); err != nil {
			t.Fatal(err)
		}
	}
	address, reached := stall(t, s.endpoints[0], 40<<20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-reached
		cancel()
	}()
	f := Run(ctx, p.task(s.backup(func(b *task.Backup) { b.Endpoints = []string{address} })), p.dirs, &Tracker{}).Failure
	if f == nil || f.Reason != v1beta2.ReasonSnapshotFailed || f.Terminal {
		t.Errorf("got %+v", f)
	}
	target := m.Target
	target.URL = p.storage.URL
	b, err := blobstore.Open(t.Context(), target, m.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	for o, err := range b.List(t.Context(), "") {
		t.Errorf("left %s, %v", o.Name, err)
	}
	if parts := m.Uploads(t, ""); parts > 0 {
		t.Errorf("left %d uploads", parts)
	}
}

// testS3Unreadable has one manifest in an archive, or denied. The others are listed, pruned and restored by name; the latest is
// not replaced by an older one silently.
func testS3Unreadable(t *testing.T, m *storetest.MinIO) {
	s, p := start(t), s3Pod(t, m, m.Credentials)
	var names []string
	for range 3 {
		s.put(t, 1)
		names = append(names, p.must(s.backup(plain)).Snapshot.Name)
	}
	for title, c := range map[string]struct {
		blind  int
		reason string
		latest bool
	}{
		"archived-old": {0, v1beta2.ReasonObjectArchived, true}, "denied-old": {0, v1beta2.ReasonStorageAccessDenied, true},
		"archived-new": {2, v1beta2.ReasonObjectArchived, false}, "denied-new": {2, v1beta2.ReasonStorageAccessDenied, false},
	} {
		t.Run(title, func(t *testing.T) {
			manifest := names[c.blind] + ".manifest.json"
			credentials := m.Credentials
			if c.reason == v1beta2.ReasonStorageAccessDenied {
				credentials = m.UserBlind(t, title, manifest)
			}
			q := s3Pod(t, m, credentials)
			q.storage.URL = p.storage.URL
			if c.reason == v1beta2.ReasonObjectArchived {
				q.storage.Endpoint = archive(t, m, manifest)
			}
			result := q.run(verify(latest))
			switch f := result.Failure; {
			case c.latest && (f != nil || result.Snapshot.Name != names[2] || len(result.Warnings) != 1):
				t.Errorf("got %+v, %+v", f, result)
			case !c.latest && (f == nil || f.Reason != c.reason || !strings.Contains(f.Message, manifest) ||
				!strings.Contains(f.Message, "set spec.snapshot to "+names[1]) || !strings.Contains(f.Message, "do not delete it unless")):
				t.Errorf("got %+v", f)
			}
			q.must(verify(named(names[1])))
		})
	}
	blind := s3Pod(t, m, m.UserBlind(t, "blind", names[0]+".manifest.json"))
	blind.storage.URL = p.storage.URL
	s.put(t, 1)
	result := blind.run(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }))
	if result.Failure != nil || len(result.Deleted) != 2 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], names[0]) {
		t.Errorf("pruned %+v", result)
	}
}

// archive is the server as it would be if one object were in an archive. It returns its endpoint.
func archive(t *testing.T, m *storetest.MinIO, suffix string) string {
	t.Helper()
	to, err := url.Parse(m.Target.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(m.Target.CA)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }, // it is signed
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, suffix) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<Error><Code>InvalidObjectState</Code><Message>The operation is not valid for the object's storage class</Message></Error>`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
