package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestResultFits holds that every Result can be read back from the bytes that the kubelet keeps.
func TestResultFits(t *testing.T) {
	many := func(n int, text string) []string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%s %d", text, i))
		}
		return all
	}
	saved := &v1beta2.SnapshotStatus{Name: "name", URL: "s3://b/name?&<>"}
	for title, c := range map[string]struct {
		result Result
		check  func(Result) bool
	}{
		"little": {
			Result{Snapshot: saved, Total: 3, Deleted: many(3, "x"), Warnings: many(2, "w")},
			func(r Result) bool { return len(r.Deleted) == 3 && len(r.Warnings) == 2 && r.Snapshot.URL == saved.URL },
		},
		"a year's backups deleted": {
			Result{Snapshot: saved, Total: 3, Deleted: many(10_000, strings.Repeat("x", 60)), Warnings: many(2, "w")},
			func(r Result) bool {
				return len(r.Deleted) > 10 && len(r.Warnings) == 2 && r.Total == 3 && r.Snapshot.Name == "name"
			},
		},
		"many lineages": {
			Result{Snapshot: saved, Total: 30, Deleted: many(10, "x"), Lineages: slices.Repeat([]v1beta2.BackupLineage{
				{ClusterID: "c0ffee00c0ffee00", Cluster: strings.Repeat("n", 200), Name: strings.Repeat("x", 300)},
			}, 10), Warnings: many(2, strings.Repeat("w", 500))},
			func(r Result) bool {
				return len(r.Deleted) == 0 && len(r.Lineages) > 2 && len(r.Warnings) == 2 && r.Total == 30
			},
		},
		"many warnings": {
			Result{Snapshot: saved, Deleted: many(10, "x"), Warnings: many(100, strings.Repeat("\"\x01", 50))},
			func(r Result) bool { return len(r.Deleted) == 0 && len(r.Warnings) > 2 && r.Snapshot != nil },
		},
		"a long message": {
			Result{Failure: &failure.Problem{Reason: "R", Message: strings.Repeat("ä", 5000), Terminal: true}},
			func(r Result) bool {
				return len(r.Failure.Message) > 1000 && r.Failure.Terminal && strings.Trim(r.Failure.Message, "ä") == ""
			},
		},
		"a name that nobody can tell": {
			Result{Snapshot: &v1beta2.SnapshotStatus{Name: strings.Repeat("ä", 1024), URL: strings.Repeat("ä", 2048)}},
			func(r Result) bool { return r.Failure.Reason == v1beta2.ReasonStorageMisconfigured },
		},
	} {
		text, err := c.result.Encode()
		if err != nil || len(text) > 4096 {
			t.Errorf("%s: %d bytes, %v", title, len(text), err)
		}
		exit := int32(0)
		if c.result.Failure != nil || strings.Contains(title, "nobody") {
			exit = 1
		}
		got, ok := ParseResult(string(text), exit)
		if !ok || !c.check(got) {
			t.Errorf("%s: read %v %+v of %s", title, ok, got, text)
		}
	}
}

// TestParseResult takes nothing else for a Result.
func TestParseResult(t *testing.T) {
	failed := Result{Failure: &failure.Problem{Reason: "R", Message: "m"}}
	for _, c := range []struct {
		text string
		exit int32
		want *Result
	}{
		{`{}`, 0, &Result{}},
		{`{"total":3}`, 0, &Result{Total: 3}},
		{`{"failure":{"reason":"R","message":"m"}}`, 1, &failed},
		{`{"failure":{"reason":"R","message":"m"}}`, 0, nil},
		{`{}`, 137, nil},
		{`{"time":"2026-01-02","level":"ERROR","msg":"the end of a log"}`, 2, nil},
		{`{"failure":{}}`, 1, nil},
		{`{"total":`, 0, nil},
		{"panic: something", 2, nil},
		{"", 0, nil},
	} {
		got, ok := ParseResult(c.text, c.exit)
		if ok != (c.want != nil) || ok && !reflect.DeepEqual(got, *c.want) {
			t.Errorf("%q and %d: got %+v, %v", c.text, c.exit, got, ok)
		}
	}
}
