package snapshot

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/proto"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// maxAlarms is the maximum number of reported alarms: two kinds for nine members are all that a cluster of this operator can have.
const maxAlarms = 18

// databaseOf reads what matters of a database to a cluster that is to run on it. Its pages must have been checked: only then is the
// free space known. Its size is what etcd compares with the quota (Size in etcd's package backend), not the file's, which is
// preallocated.
func databaseOf(tx *bbolt.Tx) (d v1beta2.SnapshotDatabase, err error) {
	free := int64(tx.DB().Stats().FreePageN) * int64(tx.DB().Info().PageSize)
	d.SizeBytes, d.InUseBytes = tx.Size(), tx.Size()-free
	if auth := tx.Bucket(schema.Auth.Name()); auth != nil {
		d.AuthEnabled = bytes.Equal(auth.Get(schema.AuthEnabledKeyName), []byte{1})
	}
	d.Alarms, err = alarmsOf(tx)
	return d, err
}

// alarmsOf reads the first of the alarms. One is a key without a value.
func alarmsOf(tx *bbolt.Tx) (alarms []v1beta2.SnapshotAlarm, err error) {
	bucket := tx.Bucket(schema.Alarm.Name())
	if bucket == nil {
		return nil, nil
	}
	at := bucket.Cursor()
	for k, _ := at.First(); k != nil && len(alarms) < maxAlarms; k, _ = at.Next() {
		alarm := &etcdserverpb.AlarmMember{}
		if err := proto.Unmarshal(k, alarm); err != nil {
			return nil, damaged("the database holds an alarm that cannot be decoded: %w", err)
		}
		alarms = append(alarms, v1beta2.SnapshotAlarm{
			Name: alarm.GetAlarm().String(), MemberID: fmt.Sprintf("%x", alarm.GetMemberID()),
		})
	}
	return alarms, nil
}

// clearAlarms removes all alarms from a restored database: they are of members that no longer exist, which could not be disarmed,
// and etcd accepts no writes as long as there is one.
func clearAlarms(path string) error {
	// As etcd opens it: the list of free pages is not in the file.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: time.Minute,
	})
	if err != nil {
		return scratchError("open the restored database", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(schema.Alarm.Name()); err != nil {
			return err
		}
		_, err := tx.CreateBucket(schema.Alarm.Name())
		return err
	})
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return scratchError("clear the alarms in the restored database", err)
	}
	return nil
}
