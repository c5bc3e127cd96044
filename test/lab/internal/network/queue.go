package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// QueueTaken returns nil once a process takes the packets of the kernel's queue of that number in its network namespace.
func QueueTaken(pid int, number uint16) error {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "net", "netfilter", "nfnetlink_queue"))
	if err != nil {
		return fmt.Errorf("list the queues of packets: %w", err)
	}
	return findQueue(string(data), number)
}

// findQueue looks for a queue in the kernel's list, of which the first column is the number.
func findQueue(list string, number uint16) error {
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == strconv.Itoa(int(number)) {
			return nil
		}
	}
	return errors.New("nobody takes the packets")
}
