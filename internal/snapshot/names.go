package snapshot

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

const (
	// extensionPlain is what the name of an object as etcd sent it ends with.
	extensionPlain = ".db"
	// extensionManifest is what a manifest's name has behind the object's.
	extensionManifest = ".manifest.json"

	timeLayout   = "20060102T150405Z"
	legacyLayout = "2006-01-02-15:04:05"
)

// tagLength is how much of a UID is in a name.
const tagLength = 8

func tag(uid string) string { return uid[:min(tagLength, len(uid))] }

// Name is the name of an object: revision, time and the first part of the writer's UID. Sorted by name the objects are sorted by
// revision, for users who list the bucket; nothing here relies on that.
func Name(revision int64, at time.Time, writerUID string, e Encoding) string {
	return fmt.Sprintf("%020d_%s_%s%s", revision, at.UTC().Format(timeLayout), tag(writerUID), e.extension())
}

// InterimName is the name of an object until it replaces the one at the key.
func InterimName(key string, revision int64, at time.Time, writerUID string, e Encoding) string {
	return key + interim + Name(revision, at, writerUID, e)
}

// interim is between the key and the rest of such a name.
const interim = ".interim_"

// name matches the names of Name and InterimName. The group is the tag.
var name = regexp.MustCompile(`^(?:.*\.interim_)?\d{20}_\d{8}T\d{6}Z_([0-9a-z-]{1,8})\.db(?:\.zst)?(?:\.age)?$`)

// numbered matches revision and time in names of Name and LegacyName.
var numbered = regexp.MustCompile(`^(?:(?P<revision>\d{20})_(?P<at>\d{8}T\d{6}Z)_.*|` +
	`(?P<key>.*)_v(?P<oldRevision>\d{1,19})_(?P<oldAt>\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d))$`)

// told is what one of the groups of numbered has found in a name, empty if nothing.
func told(object, group string) string {
	if parts := numbered.FindStringSubmatch(object); parts != nil {
		return parts[numbered.SubexpIndex(group)]
	}
	return ""
}

// revisionIn is the revision in an object's name, and false if there is none.
func revisionIn(object string) (int64, bool) {
	revision, err := strconv.ParseInt(told(object, "revision")+told(object, "oldRevision"), 10, 64)
	return revision, err == nil
}

// timeIn is the time in an object's name, zero if there is none.
func timeIn(object string) time.Time {
	for group, layout := range map[string]string{"at": timeLayout, "oldAt": legacyLayout} {
		if at, err := time.Parse(layout, told(object, group)); err == nil {
			return at
		}
	}
	return time.Time{}
}

// IsLegacyName reports whether an object's name is one that LegacyName gives for the key, and not for a longer one.
func IsLegacyName(object, key string) bool {
	return told(object, "oldRevision") != "" && told(object, "key") == key
}

// writtenBy reports whether an object's name has the tag of a writer. Only those of Name have one.
func writtenBy(object, writerUID string) bool {
	parts := name.FindStringSubmatch(object)
	return parts != nil && writerUID != "" && parts[1] == tag(writerUID)
}

// LegacyName is the name that coreos/etcd-operator gave to the objects of a periodic backup: key_vrevision_time. That of a
// backup that is taken once is the key.
func LegacyName(key string, revision int64, at time.Time) string {
	return fmt.Sprintf("%s_v%d_%s", key, revision, at.UTC().Format(legacyLayout))
}

func manifestName(object string) string { return object + extensionManifest }
