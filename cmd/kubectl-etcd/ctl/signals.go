package ctl

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Signals are those that end the program: before, it takes away what it has written for etcdctl. A terminal that is closed sends SIGHUP. One that
// whoever started the program has it ignore, as nohup does, ends nothing.
func Signals() []os.Signal { return heeded(signal.Ignored) }

func heeded(ignored func(os.Signal) bool) []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, ignored)
}
