package main

import (
	"compress/gzip"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
)

// compressors are kept, as by what serves etcd's metrics: each is large.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// serveMetrics answers for all members, as etcd does: compressed for whoever accepts that, as Go's clients do.
func (s *server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	n := s.world.at(local)
	if n == nil || r.URL.Path != "/metrics" {
		http.NotFound(w, r)
		return
	}
	s.reads.Add(1)
	read := n.reads.Add(1)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_ = s.metrics.write(w, read) // whoever has gone reads no more
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	compressor, _ := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(w)
	_ = s.metrics.write(compressor, read)
	_ = compressor.Close()
}

// HashKV implements pb.MaintenanceServer: all members have the same data, and were compacted at the same revisions.
func (s *server) HashKV(ctx context.Context, asked *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	r := &pb.HashKVResponse{Hash: 1, HashRevision: asked.Revision, CompactRevision: asked.Revision - between}
	err := s.ask(ctx, func(n *node, _ *etcdtest.Group) { r.Header = header(n) })
	return r, err
}
