package clock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Reading is what two clocks of the machine said at one moment.
type Reading struct {
	// Wall is the clock that can be moved, in nanoseconds since 1970.
	Wall int64 `json:"wall"`
	// Boot is the time since the machine was booted, in nanoseconds. Nothing moves it.
	Boot int64 `json:"boot"`
}

// Jump moves the machine's clock. What it would show is kept in a file, from the first of several jumps on.
func Jump(file string, by time.Duration) error {
	now, err := read()
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := now.write(file); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("find out whether the clock is moved: %w", err)
	}
	return set(now.Wall + by.Nanoseconds())
}

// Restore undoes all jumps since the file was written, and removes it. Without the file it does nothing.
func Restore(file string) error {
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read what the clock was: %w", err)
	}
	var before Reading
	if err := json.Unmarshal(data, &before); err != nil {
		return fmt.Errorf("decode what the clock was (%s): %w", file, err)
	}
	now, err := read()
	if err != nil {
		return err
	}
	if wall, same := before.wallAt(now.Boot); same {
		if err := set(wall); err != nil {
			return err
		}
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("forget what the clock was: %w", err)
	}
	return nil
}

// wallAt returns what the clock would show by now, had no one moved it. A machine that was booted since, and so got
// its clock from elsewhere, is not the same.
func (r Reading) wallAt(boot int64) (wall int64, same bool) {
	return r.Wall + boot - r.Boot, boot >= r.Boot
}

func (r Reading) write(file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode what the clock is: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil { // #nosec G306 -- no secret
		return fmt.Errorf("write what the clock is: %w", err)
	}
	return nil
}

func read() (Reading, error) {
	var wall, boot unix.Timespec
	err := errors.Join(unix.ClockGettime(unix.CLOCK_REALTIME, &wall), unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot))
	if err != nil {
		return Reading{}, fmt.Errorf("read the clock: %w", err)
	}
	return Reading{Wall: wall.Nano(), Boot: boot.Nano()}, nil
}

func set(wall int64) error {
	to := unix.NsecToTimespec(wall)
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &to); err != nil {
		return fmt.Errorf("set the clock (it needs CAP_SYS_TIME): %w", err)
	}
	return nil
}
