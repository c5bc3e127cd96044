package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	tail := " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %START% 1000 10"
	stat := func(name, state string) string {
		return "42 (" + name + ") " + state + strings.ReplaceAll(tail, "%START%", "8877")
	}
	tests := []struct {
		name, stat string
		want       uint64
		fails      bool
	}{
		{name: "running", stat: stat("etcd", "S"), want: 8877},
		{name: "name with parentheses and spaces", stat: stat("a) Z (b", "R"), want: 8877},
		{name: "zombie", stat: stat("etcd", "Z"), fails: true},
		{name: "dead", stat: stat("etcd", "X"), fails: true},
		{name: "cut off", stat: "42 (etcd) S 1 1", fails: true},
		{name: "empty", stat: "", fails: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat(test.stat)
			if (err != nil) != test.fails || got != test.want {
				t.Errorf("parseStat(%q) = %d, %v, want %d, failure %v", test.stat, got, err, test.want, test.fails)
			}
		})
	}
}

// sleeper describes a process that runs until it is ended.
func sleeper(t *testing.T, script string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{
		Name: "sleeper", Args: []string{"/bin/sh", "-c", script}, Path: os.Getenv("PATH"),
		LogFile: filepath.Join(dir, "sleeper.log"), RecordFile: filepath.Join(dir, "sleeper.json"),
	}
}

func end(t *testing.T, record Record) {
	t.Cleanup(func() {
		if err := Kill(context.WithoutCancel(t.Context()), record); err != nil {
			t.Error(err)
		}
	})
}

func TestEnsureStartsOnce(t *testing.T) {
	spec := sleeper(t, "exec sleep 60")
	first, err := Ensure(spec)
	if err != nil {
		t.Fatal(err)
	}
	end(t, first)
	again, err := Ensure(spec)
	if err != nil {
		t.Fatal(err)
	}
	if again != first {
		t.Errorf("a running process was not found again: first %+v, then %+v", first, again)
	}
	if err := Kill(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	next, err := Ensure(spec)
	if err != nil {
		t.Fatal(err)
	}
	end(t, next)
	if next.PID == first.PID || !next.Alive() {
		t.Errorf("a dead process was not started again: first %+v, then %+v", first, next)
	}
	all, err := ReadAll(filepath.Dir(spec.RecordFile))
	if err != nil || len(all) != 1 || all[0] != next {
		t.Errorf("ReadAll = %+v, %v, want only %+v", all, err, next)
	}
}

func TestEnterWrapsTheCommand(t *testing.T) {
	spec := sleeper(t, "echo $ENTERED; exec sleep 60")
	spec.Enter = []string{"env", "ENTERED=inside"}
	record, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	end(t, record)
	err = Poll(t.Context(), func(context.Context) error {
		if !strings.Contains(LogTail(spec.LogFile), "inside") {
			return errors.New("nothing printed yet")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEnvironmentIsNotInTheArguments(t *testing.T) {
	spec := sleeper(t, `echo "$SECRET of $HOME"; exec sleep 60`)
	spec.Env = []string{"SECRET=hunter2"}
	record, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	end(t, record)
	err = record.WaitReady(t.Context(), func(context.Context) error {
		log, err := os.ReadFile(spec.LogFile)
		if err == nil && string(log) != "hunter2 of /root\n" {
			err = fmt.Errorf("it printed %q", log)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(record.PID), "cmdline"))
	if err != nil || strings.Contains(string(arguments), "hunter2") {
		t.Errorf("everybody sees %q, %v", arguments, err)
	}
}

func TestAnotherProcessIsNeverSignalled(t *testing.T) {
	record, err := Start(sleeper(t, "exec sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	end(t, record)
	// As if the recorded process had ended and the kernel had given its id away.
	stale := record
	stale.Started--
	if stale.Alive() {
		t.Error("a process with another start time counts as the recorded one")
	}
	if err := stale.Signal(os.Kill); !errors.Is(err, ErrGone) {
		t.Errorf("Signal = %v, want ErrGone", err)
	}
	if err := Kill(t.Context(), stale); err != nil {
		t.Errorf("Kill of what is gone: %v", err)
	}
	if !record.Alive() {
		t.Error("the other process was ended")
	}
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	spec := sleeper(t, "trap '' TERM; echo ready; while true; do sleep 1; done")
	record, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	end(t, record)
	err = record.WaitReady(t.Context(), func(context.Context) error {
		if !strings.Contains(LogTail(spec.LogFile), "ready") {
			return errors.New("it has not set its trap yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), 100*time.Millisecond, record); err != nil {
		t.Fatal(err)
	}
	if record.Alive() {
		t.Error("it still runs")
	}
}

func TestWaitReadyTellsWhyAComponentDied(t *testing.T) {
	spec := sleeper(t, "echo the disk is full; sleep 0.2; exit 1")
	record, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	err = record.WaitReady(t.Context(), func(context.Context) error { return errors.New("connection refused") })
	if err == nil {
		t.Fatal("a dead component became ready")
	}
	for _, want := range []string{"sleeper", "connection refused", "the disk is full", spec.LogFile} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if !errors.Is(err, ErrGone) {
		t.Errorf("the error is not ErrGone: %v", err)
	}
}

func TestLogTailIsShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.log")
	if err := os.WriteFile(file, []byte(strings.Repeat("line\n", 1000)+"last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tail := LogTail(file)
	if got := strings.Count(tail, "line"); got != tailLines-1 || !strings.HasSuffix(tail, "last") {
		t.Errorf("the tail holds %d lines before the last: %s", got, tail)
	}
	if missing := LogTail(file + ".no"); !strings.Contains(missing, "cannot be read") {
		t.Errorf("a missing log is not named: %s", missing)
	}
}
