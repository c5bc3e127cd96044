package memberrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"google.golang.org/protobuf/proto"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// identity is whose data a directory holds.
type identity struct {
	clusterID, memberID member.ID
}

// walIdentity reads the member and cluster ID from the head of the write-ahead log, nil if there is no log. etcd puts
// the log in place by a rename, so a directory with a segment in it is a log that was started.
func walIdentity(dataDir string) (*identity, error) {
	segments, err := filepath.Glob(filepath.Join(dataDir, "member", "wal", "*.wal"))
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	slices.Sort(segments)
	file, err := os.Open(segments[0])
	if err != nil {
		return nil, fmt.Errorf("open the write-ahead log: %w", err)
	}
	defer func() { _ = file.Close() }()
	decoder := wal.NewDecoder(fileutil.NewFileReader(file))
	for {
		record := &walpb.Record{}
		if err := decoder.Decode(record); err != nil {
			return nil, fmt.Errorf("read the head of the write-ahead log %s: %w", segments[0], err)
		}
		switch record.GetType() {
		case wal.CrcType:
			// A segment that continues another one starts with the checksum up to there.
			decoder.UpdateCRC(record.GetCrc())
		case wal.MetadataType:
			metadata := &etcdserverpb.Metadata{}
			if err := proto.Unmarshal(record.GetData(), metadata); err != nil {
				return nil, fmt.Errorf("decode the head of the write-ahead log: %w", err)
			}
			return &identity{member.ID(metadata.GetClusterID()), member.ID(metadata.GetNodeID())}, nil
		default:
			return nil, errors.New("the write-ahead log does not start with its metadata")
		}
	}
}
