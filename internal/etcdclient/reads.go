package etcdclient

import (
	"context"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Status is what the member behind a client of one endpoint reports of itself, without asking the others.
func (c *Client) Status(ctx context.Context) (*pb.StatusResponse, error) {
	// The client's own Status makes a connection for each call.
	status, err := pb.NewMaintenanceClient(c.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	return status, translate(err)
}

// ClusterID is the ID of the cluster that the member behind a client of one endpoint belongs to. Everyone is told: where authentication is on,
// the header of a watch that etcd refuses has it. It is 0 if a proxy hides it.
func (c *Client) ClusterID(ctx context.Context) (uint64, error) {
	status, err := c.Status(ctx)
	if !Denied(err) {
		return status.GetHeader().GetClusterId(), err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := pb.NewWatchClient(c.client.ActiveConnection()).Watch(ctx)
	if err != nil {
		return 0, translate(err)
	}
	create := &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("health")}}
	if err := watch.Send(&pb.WatchRequest{RequestUnion: create}); err != nil {
		return 0, translate(err)
	}
	answer, err := watch.Recv()
	return answer.GetHeader().GetClusterId(), translate(err)
}

// Members is the member list, read linearizably.
func (c *Client) Members(ctx context.Context) (*pb.MemberListResponse, error) {
	list, err := c.client.MemberList(ctx) // linearizable by default
	return (*pb.MemberListResponse)(list), err
}

// Revision is the revision, read linearizably. The member serves at least that from then on.
func (c *Client) Revision(ctx context.Context) (int64, error) {
	// The key that etcd's own health check reads. Only the header of the answer matters.
	answer, err := c.client.Get(ctx, "health", clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return answer.Header.GetRevision(), nil
}

// Count is how many keys the member has, and at which revision, by a serializable read. It costs etcd a scan of its index, without the
// values.
func (c *Client) Count(ctx context.Context) (keys, revision int64, err error) {
	count, err := c.client.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithCountOnly(), clientv3.WithSerializable())
	if err != nil {
		return 0, 0, err
	}
	return count.Count, count.Header.GetRevision(), nil
}

// HashKV is etcd's hash of all keys that the member behind a client of one endpoint has at a revision, from the compacted one on. The member
// reads its whole database for it.
func (c *Client) HashKV(ctx context.Context, revision int64) (*pb.HashKVResponse, error) {
	// The client's own HashKV makes a connection for each call.
	hash, err := pb.NewMaintenanceClient(c.client.ActiveConnection()).HashKV(ctx, &pb.HashKVRequest{Revision: revision})
	return hash, translate(err)
}

// Snapshot streams the member's database, with the checksum that etcd appends. The version is the database's, empty before etcd 3.6.
// The stream ends with the context.
func (c *Client) Snapshot(ctx context.Context) (stream io.ReadCloser, version string, err error) {
	answer, err := c.client.SnapshotWithVersion(ctx)
	if err != nil {
		return nil, "", translate(err)
	}
	return translated{answer.Snapshot}, answer.Version, nil
}

// translated is a stream whose errors etcd's client leaves as gRPC has them.
type translated struct{ io.ReadCloser }

func (t translated) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	return n, translate(err)
}
