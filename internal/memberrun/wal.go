package memberrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"google.golang.org/protobuf/proto"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// readIdentity reads the member and cluster ID from the write-ahead log, nil if there is no log. etcd creates the log by a rename, and
// every segment starts with the IDs, so any readable one suffices; whether the rest is intact is left to etcd. Everything but a
// directory that certainly does not exist is an error: to mistake unreadable data for no data would be to lose it.
func readIdentity(dataDir string) (*member.Identity, error) {
	dir := filepath.Join(dataDir, "member", "wal")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the write-ahead log: %w", err)
	}
	var unreadable error
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".wal" {
			continue
		}
		found, idle, err := readSegment(filepath.Join(dir, entry.Name()))
		if err != nil {
			unreadable = errors.Join(unreadable, fmt.Errorf("read %s: %w", entry.Name(), err))
			continue
		}
		if idle && entry.Name() == firstSegment {
			return nil, nil
		}
		return found, nil
	}
	return nil, unreadable
}

// firstSegment is the name of the segment that a log begins with; there is no other until it is full.
const firstSegment = "0000000000000000-0000000000000000.wal"

// readSegment reads the head of one segment. It is idle if nothing follows the head: then etcd was stopped before it wrote its first
// entry or vote, so no other member knows of it. It must not be resumed: an initial member would know neither its peers nor itself, and
// wait forever.
func readSegment(path string) (found *member.Identity, idle bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = file.Close() }()
	decoder := wal.NewDecoder(fileutil.NewFileReader(file))
	found, err = readHead(decoder)
	if err != nil {
		return nil, false, err
	}
	return found, isIdle(decoder), nil
}

func readHead(decoder wal.Decoder) (*member.Identity, error) {
	for {
		record := &walpb.Record{}
		if err := decoder.Decode(record); err != nil {
			return nil, err
		}
		switch record.GetType() {
		case wal.CrcType:
			// A segment that continues another one starts with the checksum up to there.
			decoder.UpdateCRC(record.GetCrc())
		case wal.MetadataType:
			return decodeMetadata(record.GetData())
		default:
			return nil, errors.New("the segment does not start with its metadata")
		}
	}
}

// isIdle reports whether nothing follows the head. Unreadable data counts as something.
func isIdle(decoder wal.Decoder) bool {
	for {
		record := &walpb.Record{}
		if err := decoder.Decode(record); err != nil {
			return errors.Is(err, io.EOF)
		}
		if record.GetType() != wal.SnapshotType || !isInitialSnapshot(record.GetData()) {
			return false
		}
	}
}

func decodeMetadata(data []byte) (*member.Identity, error) {
	metadata := &etcdserverpb.Metadata{}
	if err := proto.Unmarshal(data, metadata); err != nil {
		return nil, fmt.Errorf("decode the metadata: %w", err)
	}
	return &member.Identity{
		ClusterID: member.ID(metadata.GetClusterID()), MemberID: member.ID(metadata.GetNodeID()),
	}, nil
}

// isInitialSnapshot reports whether this is the record that every new log gets, which stands for no snapshot.
func isInitialSnapshot(data []byte) bool {
	snapshot := &walpb.Snapshot{}
	return proto.Unmarshal(data, snapshot) == nil && snapshot.GetIndex() == 0
}
