package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// tally is the sum of all rounds.
type tally struct {
	seed              uint64
	actions, left     int
	operations, good  int
	longest, slowest  time.Duration
	failure           error
	undecided, rounds int
}

// fail keeps the first failure.
func (t *tally) fail(err error) {
	if t.failure == nil {
		t.failure = err
	}
}

const tableHead = "| seed | clusters | actions (left out) | operations that failed | longest time without a write | slowest recovery | verdict |\n" +
	"| --- | --- | --- | --- | --- | --- | --- |\n"

// row is that of the table.
func (t *tally) row() string {
	verdict := "as etcd promises"
	if t.undecided > 0 {
		verdict = fmt.Sprintf("%s, %d of %d histories undecided", verdict, t.undecided, t.rounds)
	}
	if t.failure != nil {
		verdict = "FAILED: " + strings.ReplaceAll(t.failure.Error(), "\n", " ")
	}
	return fmt.Sprintf("| %d | %d | %d (%d) | %d of %d | %.1f s | %.1f s | %s |\n", t.seed, t.rounds, t.actions, t.left,
		t.operations-t.good, t.operations, t.longest.Seconds(), t.slowest.Seconds(), verdict)
}

// write adds the row to the table in a file, if it has a name, and begins the table if there is none.
func (t *tally) write(file string) error {
	if file == "" {
		return nil
	}
	table, err := os.ReadFile(file) // #nosec G304 -- named by who runs this
	if errors.Is(err, fs.ErrNotExist) {
		table, err = []byte(tableHead), nil
	}
	if err == nil {
		err = os.WriteFile(file, append(table, t.row()...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
