package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// program is what to run.
type program struct {
	path      string
	args, env []string
	// root is the root of its file system, that of this machine if empty.
	root string
}

// cost is what a program took.
type cost struct {
	took, cpu time.Duration
	memory
	// exit is the exit code, and output what the program said.
	exit   int
	output string
}

// memory is the most that was resident, in bytes: with pages of files that are mapped, and anonymous.
type memory struct{ peak, anonymous int64 }

// spend runs a program to its end. That it fails is no error here.
func spend(ctx context.Context, p program) (cost, error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &output, &output
	cmd.Env = append([]string{}, p.env...) // nothing of this process's, not even if there is nothing else
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: p.root}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	ended, most := make(chan struct{}), make(chan memory, 1)
	go func() { most <- watchMemory(cmd.Process.Pid, ended) }()
	err := cmd.Wait()
	c := cost{took: time.Since(start), exit: cmd.ProcessState.ExitCode(), output: output.String()}
	close(ended)
	c.memory = <-most
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	if c.exit < 0 {
		return c, fmt.Errorf("%s: %w", p.path, err)
	}
	return c, nil
}

// watchMemory looks at a process until it has ended. What the kernel says afterwards is no use: it counts the peak of
// whoever starts a program as the program's, too.
func watchMemory(pid int, ended <-chan struct{}) (most memory) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return most
		case <-ticker.C:
			most = most.or(memoryOf(pid))
		}
	}
}

// memoryOf is the zero value for a process that has ended. The kernel keeps the peak of the whole, but none of the
// anonymous part.
func memoryOf(pid int) (m memory) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			m.peak = kib << 10
		}
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kib); err == nil {
			m.anonymous = kib << 10
		}
	}
	return m
}

// or is the greater of each.
func (m memory) or(n memory) memory {
	return memory{peak: max(m.peak, n.peak), anonymous: max(m.anonymous, n.anonymous)}
}
