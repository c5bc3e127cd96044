package objectstore

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
)

var gcs = Kind{
	Name: "gcs", Tool: "fake-gcs-server", Port: 4443, health: "/_internal/healthcheck",
	command: func(s *Store) []string {
		return []string{
			filepath.Join(s.programs, "fake-gcs-server"), "-scheme=http", "-host=" + s.host, "-port=" + strconv.Itoa(s.Port),
			"-backend=filesystem", "-filesystem-root=" + s.data(), "-log-level=warn",
			// Objects are only read under this name, and parts of an upload go to this address.
			"-public-host=" + s.domain(), "-external-url=" + s.URL(),
		}
	},
	environment: func(*Store) []string { return nil },
	client: func(s *Store) map[string]string {
		return map[string]string{"STORAGE_EMULATOR_HOST": s.endpoint()}
	},
	prepare: prepareGCS,
}

func prepareGCS(ctx context.Context, s *Store) error {
	status, err := s.send(ctx, http.MethodPost, "/storage/v1/b?project=lab", `{"name":"`+Bucket+`"}`)
	if err != nil {
		return err
	}
	if status != http.StatusOK && status != http.StatusConflict {
		return fmt.Errorf("make the bucket: status %d", status)
	}
	return nil
}
