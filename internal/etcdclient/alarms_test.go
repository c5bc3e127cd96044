package etcdclient

import (
	"slices"
	"testing"
)

// TestAlarms reads what etcd's releases write. What real servers say is read in the tests of the package etcd.
func TestAlarms(t *testing.T) {
	t.Parallel()
	got := Alarms([]string{
		"etcdserver: no leader", "memberID:17 alarm:CORRUPT", "memberID:18  alarm:NOSPACE ", "alarm:CORRUPT", "memberID:x alarm:NEW", "",
	})
	want := []Alarm{{"CORRUPT", 17}, {"NOSPACE", 18}, {"CORRUPT", 0}, {"NEW", 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
