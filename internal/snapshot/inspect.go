package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"runtime/debug"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.etcd.io/bbolt"
	etcdversion "go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/encoding/protowire"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Content is the content of a database.
type Content struct {
	// Revision is the latest of any key, 0 if there is none.
	Revision int64
	// Current is etcd's own revision: at least 1, and at least the last one that was compacted, though the keys of both may
	// be gone (restore in etcd's package mvcc).
	Current int64
	// Keys is how many there are at the latest revision, and KeysAt at the one that was asked for; -1 if a compaction has
	// made that one unknowable.
	Keys, KeysAt int64
	// Hash is the SHA-256 of all keys and values of all revisions, in hexadecimal. A restore does not change it.
	Hash string
	// Version is the etcd version whose data it is, major.minor; empty if it says nothing of it, as in a cluster's first
	// seconds.
	Version string
	// Database is what else matters to who is to run on it.
	Database v1beta2.SnapshotDatabase
}

// Inspect checks the structure of a database, which is a snapshot or a member's file, and reads its content. It is read-only. It
// takes memory for all keys, as etcd does when it starts.
func Inspect(path string, at int64) (c Content, err error) {
	err = look(path, func(tx *bbolt.Tx) error {
		if err := c.read(tx, at); err != nil {
			return err
		}
		c.Version = dataVersion(tx)
		if err := check(tx); err != nil {
			return err
		}
		c.Database, err = databaseOf(tx)
		return err
	})
	return c, err
}

// look reads a database of etcd's.
func look(path string, read func(*bbolt.Tx) error) (err error) {
	// With corrupt pages the library panics, or reads beyond the file.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged("the database is corrupt: %v", p)
		}
	}()
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return damaged("the database cannot be opened: %w", err)
	}
	defer func() { _ = db.Close() }()
	return db.View(func(tx *bbolt.Tx) error {
		for _, bucket := range [][]byte{schema.Key.Name(), schema.Meta.Name(), schema.Cluster.Name()} {
			if tx.Bucket(bucket) == nil {
				return damaged("it is not an etcd database: it has no bucket %q", bucket)
			}
		}
		return read(tx)
	})
}

// Outline is what is known of a database without reading its values.
type Outline struct {
	// Version is the etcd version whose data it is, major.minor; empty if it says nothing of it, as in a cluster's first
	// seconds.
	Version string
	// Revision is the latest of any key, 0 if there is none, and Revisions how many there are.
	Revision  int64
	Revisions int
	// Current is as in Content.
	Current int64
	// Database is what else matters to who is to run on it.
	Database v1beta2.SnapshotDatabase
}

// outline checks the structure of a database and reads its outline.
func outline(path string) (o Outline, err error) {
	err = look(path, func(tx *bbolt.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		keys := tx.Bucket(schema.Key.Name())
		if last, _ := keys.Cursor().Last(); last != nil {
			o.Revision = mvcc.BytesToRev(last).Main
		}
		o.Revisions, o.Version = keys.Stats().KeyN, dataVersion(tx)
		if o.Current, err = currentRevision(tx, o.Revision); err != nil {
			return err
		}
		o.Database, err = databaseOf(tx)
		return err
	})
	return o, err
}

// check checks the pages. The library does that in another goroutine, whose panics would crash the program: so every page is visited
// here first.
func check(tx *bbolt.Tx) error {
	if err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return visit(b) }); err != nil {
		return damaged("the database cannot be read: %w", err)
	}
	var problems []string
	for p := range tx.Check() {
		problems = append(problems, p.Error())
	}
	if len(problems) > 0 {
		return damaged("the database has %d consistency errors, the first is: %s", len(problems), problems[0])
	}
	return nil
}

func visit(b *bbolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		if inner := b.Bucket(k); v == nil && inner != nil {
			return visit(inner)
		}
		return nil
	})
}

// undecided is a cluster's version until its leader has heard of every member what that runs, up to five seconds after the
// first ones have started: see UpdateClusterVersionIfNeeded in etcd's server/etcdserver/version. Nothing of a later version is
// in its data until then.
var undecided = semver.MustParse(etcdversion.MinClusterVersion)

// dataVersion is the higher one of the schema's version, which etcd has since 3.6, and the cluster's, as major.minor. It is
// empty if neither is decided: then any version can start from the data.
func dataVersion(tx *bbolt.Tx) string {
	texts := []string{string(tx.Bucket(schema.Cluster.Name()).Get(schema.ClusterClusterVersionKeyName))}
	if v := schema.ReadStorageVersionFromSnapshot(tx); v != nil {
		texts = append(texts, v.String())
	}
	var highest *semver.Version
	for _, text := range texts {
		v, err := semver.NewVersion(strings.TrimSpace(text))
		if err == nil && !v.Equal(undecided) && (highest == nil || v.GreaterThan(highest)) {
			highest = v
		}
	}
	if highest == nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", highest.Major(), highest.Minor())
}

// counter counts keys over their revisions.
type counter struct {
	hash  hash.Hash
	alive map[string]struct{}
}

func (c *Content) read(tx *bbolt.Tx, at int64) error {
	compacted := compactRevision(tx)
	n := counter{hash: sha256.New(), alive: map[string]struct{}{}}
	c.KeysAt = -1
	err := tx.Bucket(schema.Key.Name()).ForEach(func(k, v []byte) error {
		revision := mvcc.BytesToRev(k).Main
		if revision > at && c.KeysAt < 0 && compacted <= at {
			c.KeysAt = int64(len(n.alive))
		}
		c.Revision = max(c.Revision, revision)
		return n.add(k, v)
	})
	if err != nil {
		return err
	}
	if c.KeysAt < 0 && compacted <= at && c.Revision <= at {
		c.KeysAt = int64(len(n.alive))
	}
	c.Keys, c.Hash = int64(len(n.alive)), hex.EncodeToString(n.hash.Sum(nil))
	c.Current, err = currentRevision(tx, c.Revision)
	return err
}

// add takes one revision of one key.
func (n *counter) add(k, v []byte) error {
	n.hash.Write(k)
	n.hash.Write(v)
	key, err := keyOf(v)
	if err != nil {
		return damaged("the database holds a value that cannot be decoded: %w", err)
	}
	switch {
	case len(key) == 0: // the marker by which a restore raises the revision
	case mvcc.IsTombstone(k):
		delete(n.alive, string(key))
	default:
		n.alive[string(key)] = struct{}{}
	}
	return nil
}

// keyField is the number of the key in etcd's mvccpb.KeyValue.
const keyField = 1

// keyOf reads the key of an encoded mvccpb.KeyValue, whose value can be large, without a copy of it.
func keyOf(kv []byte) (key []byte, err error) {
	for len(kv) > 0 {
		number, kind, tag := protowire.ConsumeTag(kv)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		length := protowire.ConsumeFieldValue(number, kind, kv[tag:])
		if length < 0 {
			return nil, protowire.ParseError(length)
		}
		if number == keyField && kind == protowire.BytesType {
			key, _ = protowire.ConsumeBytes(kv[tag:])
		}
		kv = kv[tag+length:]
	}
	return key, nil
}

// revisionLimit is a revision that no cluster reaches: 10⁵ writes a second take more than a million years. Above it a revision cannot
// be raised.
const revisionLimit = 1 << 62

// currentRevision is Current of a database whose latest key is of that revision.
func currentRevision(tx *bbolt.Tx, latest int64) (int64, error) {
	current := max(1, compactRevision(tx), latest)
	if current > revisionLimit {
		return 0, damaged("the database is at revision %d, which is impossibly high", current)
	}
	return current, nil
}

// compactRevision is up to where superseded revisions may be gone.
func compactRevision(tx *bbolt.Tx) int64 {
	var latest int64
	for _, key := range [][]byte{schema.ScheduledCompactKeyName, schema.FinishedCompactKeyName} {
		if v := tx.Bucket(schema.Meta.Name()).Get(key); len(v) > 0 {
			latest = max(latest, mvcc.BytesToRev(v).Main)
		}
	}
	return latest
}
