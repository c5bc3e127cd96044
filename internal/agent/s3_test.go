package agent

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
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
		ForcePathStyle: true, Secret: "s3", CASecret: "authority",
	}
	p.secret(p.dirs.CA, map[string][]byte{KeyCA: m.Target.CA})
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
		"no authority": {m.Credentials, func(p *pod) { p.storage.CASecret = "" }, v1beta2.ReasonStorageNotTrusted},
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
	gone.must(Task{Clean: &Clean{}}) // there is nothing to clean
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
	f := Run(ctx, p.task(s.backup(func(b *Backup) { b.Endpoints = []string{address} })), p.dirs, &Tracker{}).Failure
	if f == nil || f.Reason != v1beta2.ReasonSnapshotFailed || f.Lasting {
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
	if parts := m.Uploads(t); parts > 0 {
		t.Errorf("left %d uploads", parts)
	}
}
