package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrGone is returned when a recorded process is no longer running.
var ErrGone = errors.New("process is gone")

// Spec says how a component is run.
type Spec struct {
	// Name of the component, which is also the name of its log and of its record.
	Name string
	// Args is the command line; Args[0] is an absolute path.
	Args []string
	// Path is the PATH that the component sees.
	Path string
	// Env lists more of its environment, as NAME=value: credentials belong here, for all can see Args.
	Env []string
	// Enter is a command line that enters namespaces and then runs the words that follow it; empty for the host's.
	Enter []string
	// Join lists the cgroup.procs files that the process enters before it becomes the component.
	Join []string
	// LogFile gets what the component prints.
	LogFile string
	// RecordFile remembers the process.
	RecordFile string
}

// Record identifies one process for as long as the machine runs.
type Record struct {
	// Name of the component.
	Name string `json:"name"`
	// PID is the process id.
	PID int `json:"pid"`
	// Started is the process's start time in clock ticks since boot, field 22 of /proc/PID/stat.
	Started uint64 `json:"started"`
	// LogFile gets what the component prints.
	LogFile string `json:"logFile"`
}

// Start runs a component in a session of its own, so that it outlives the command that started it, and records it.
func Start(spec Spec) (Record, error) {
	log, err := os.OpenFile(spec.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644) // #nosec G302 -- logs are no secret
	if err != nil {
		return Record{}, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }()
	args := commandLine(spec)
	// Not the caller's context: the component outlives it.
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...) // #nosec G204 -- the lab's own command
	cmd.Env = append([]string{"PATH=" + spec.Path, "HOME=/root"}, spec.Env...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Record{}, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	// A test that started the lab stays its parent: without this its dead would stay zombies.
	go func() { _ = cmd.Wait() }()
	started, err := startTime(cmd.Process.Pid)
	if err != nil {
		return Record{}, fmt.Errorf("%s ended at once: %w%s", spec.Name, err, LogTail(spec.LogFile))
	}
	record := Record{Name: spec.Name, PID: cmd.Process.Pid, Started: started, LogFile: spec.LogFile}
	return record, record.write(spec.RecordFile)
}

// Ensure returns the recorded process if it still runs, and starts it otherwise.
func Ensure(spec Spec) (Record, error) {
	record, err := Read(spec.RecordFile)
	switch {
	case err == nil && record.Alive():
		return record, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return Record{}, err
	}
	return Start(spec)
}

// commandLine wraps the component's own command line: a shell enters the cgroups, the command of Enter enters the
// namespaces, and both end in exec, so the recorded process is the component.
func commandLine(spec Spec) []string {
	var script strings.Builder
	for _, file := range spec.Join {
		fmt.Fprintf(&script, "echo $$ > '%s' || exit 1; ", file)
	}
	script.WriteString(`exec "$@"`)
	args := []string{"/bin/sh", "-c", script.String(), spec.Name}
	args = append(args, spec.Enter...)
	return append(args, spec.Args...)
}

func (r Record) write(file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of %s: %w", r.Name, err)
	}
	// #nosec G306 -- a process id is no secret
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("record %s: %w", r.Name, err)
	}
	return nil
}

// Read returns the record in a file. A missing record is an error that is os.ErrNotExist.
func Read(file string) (Record, error) {
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if err != nil {
		return Record{}, fmt.Errorf("read a process record: %w", err)
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		return Record{}, fmt.Errorf("decode the process record %s: %w", file, err)
	}
	return record, nil
}

// ReadAll returns all records in a folder; a missing folder has none.
func ReadAll(dir string) ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list process records: %w", err)
	}
	var records []Record
	for _, file := range files {
		record, err := Read(file)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// Alive says whether the process still runs. A zombie does not.
func (r Record) Alive() bool {
	if r.PID <= 0 {
		return false
	}
	started, err := startTime(r.PID)
	return err == nil && started == r.Started
}

// Signal sends a signal to exactly the recorded process, or returns ErrGone.
func (r Record) Signal(signal os.Signal) error {
	// The handle (a pidfd) is taken before the check, so the process checked is the process signalled.
	handle, err := os.FindProcess(r.PID)
	if err != nil || !r.Alive() {
		return fmt.Errorf("signal %s: %w", r.Name, ErrGone)
	}
	defer func() { _ = handle.Release() }()
	if err := handle.Signal(signal); errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", r.Name, ErrGone)
	} else if err != nil {
		return fmt.Errorf("signal %s: %w", r.Name, err)
	}
	return nil
}

// startTime reads when a process started, and fails for a process that is gone or a zombie.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	return parseStat(string(data))
}

// parseStat reads the start time out of proc_pid_stat(5). The command's name, the second field, may itself hold
// spaces and parentheses, so fields are counted from the last parenthesis.
func parseStat(stat string) (uint64, error) {
	_, rest, found := cutLast(stat, ")")
	fields := strings.Fields(rest)
	// The manual counts from 1, and the first two fields are cut off.
	const stateField, startField = 0, 19
	if !found || len(fields) <= startField {
		return 0, fmt.Errorf("malformed process state %q", stat)
	}
	if fields[stateField] == "Z" || fields[stateField] == "X" {
		return 0, ErrGone
	}
	started, err := strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("malformed start time in process state %q: %w", stat, err)
	}
	return started, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
