package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTable has runs add a row each to one table.
func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "soak.md")
	first := tally{seed: 1, rounds: 2, actions: 9, left: 1, undecided: 1, operations: 100, good: 90, longest: time.Second, slowest: time.Minute}
	first.fail(nil)
	second := tally{seed: 2}
	second.fail(errors.New("not\nhealthy"))
	second.fail(errors.New("something later"))
	for _, run := range []tally{first, second} {
		if err := run.write(file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := tableHead +
		"| 1 | 2 | 9 (1) | 10 of 100 | 1.0 s | 60.0 s | as etcd promises, 1 of 2 histories undecided |\n" +
		"| 2 | 0 | 0 (0) | 0 of 0 | 0.0 s | 0.0 s | FAILED: not healthy |\n"
	if string(got) != want {
		t.Errorf("the table is\n%swant\n%s", got, want)
	}
}
