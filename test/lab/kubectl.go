package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// kubectl runs one command as the administrator and returns what it prints.
func (l *Lab) kubectl(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	args = append([]string{"--kubeconfig=" + l.Kubeconfig()}, args...)
	cmd := exec.CommandContext(ctx, l.Kubectl(), args...) // #nosec G204 -- the lab's own commands
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s",
			strings.Join(args[1:], " "), errors.Join(context.Cause(ctx), err), strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// explain returns an error that says how the pods of a namespace are. It works after the caller's own time is up.
func (l *Lab) explain(ctx context.Context, namespace string) error {
	out, err := l.kubectl(context.WithoutCancel(ctx), nil, "describe", "pods", "--namespace="+namespace)
	if err != nil {
		return err
	}
	return fmt.Errorf("the pods of %s:\n%s", namespace, out)
}
