package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// server is a process that runs until it is told to end.
type server struct {
	cmd *exec.Cmd
	log *os.File
}

func startServer(log string, env []string, program string, args ...string) (s *server, err error) {
	s = &server{cmd: exec.Command(program, args...)} //nolint:noctx // it is told to end, and not killed
	if s.log, err = os.Create(log); err != nil {
		return nil, err
	}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append([]string{}, env...), s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // whoever presses Ctrl-C means the measurement, which stops it
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), s.log.Close())
	}
	return s, nil
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	err := s.cmd.Wait()
	if err != nil && !s.told() {
		err = fmt.Errorf("%s ended: %w\n%s", s.cmd.Path, err, s.last())
	} else {
		err = nil
	}
	return errors.Join(err, s.log.Close())
}

// told reports whether it ended because it was told to: etcd ends with that signal itself.
func (s *server) told() bool {
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// last is the end of the log.
func (s *server) last() string {
	text, _ := os.ReadFile(s.log.Name())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// await waits until the server answers.
func (s *server) await(ctx context.Context, answers func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			last = answers(limited)
			return last == nil, nil
		})
	if err != nil {
		return fmt.Errorf("start %s: %w: %w\n%s", s.cmd.Path, err, last, s.last())
	}
	return nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Who may do everything with the MinIO.
const (
	minioUser = "administrator"
	minioKey  = "0123456789-administrator" // #nosec G101 -- of a server that lives as long as the measurement
	bucket    = "backups"
)

// minio is a server of S3's protocol on one disk, without TLS, with one bucket.
type minio struct {
	*server
	endpoint string
}

func startMinIO(ctx context.Context, program, dir string) (*minio, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	m := &minio{endpoint: "http://" + address}
	m.server, err = startServer(filepath.Join(dir, "log"), []string{
		"MINIO_ROOT_USER=" + minioUser, "MINIO_ROOT_PASSWORD=" + minioKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "HOME=" + dir,
	}, program, "server", "--quiet", "--address="+address, data)
	if err != nil {
		return nil, err
	}
	err = m.await(ctx, m.ready)
	if err == nil {
		err = m.createBucket(ctx, filepath.Join(filepath.Dir(program), "mc"), address, dir)
	}
	if err != nil {
		return nil, errors.Join(err, m.stop())
	}
	return m, nil
}

func (m *minio) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.endpoint+"/minio/health/ready", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return errors.Join(err, response.Body.Close())
}

func (m *minio) createBucket(ctx context.Context, mc, address, home string) error {
	cmd := exec.CommandContext(ctx, mc, "--config-dir", home, "mb", "bench/"+bucket)
	cmd.Env = []string{"MC_HOST_bench=http://" + minioUser + ":" + minioKey + "@" + address, "HOME=" + home}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create the bucket: %w: %s", err, out)
	}
	return nil
}
