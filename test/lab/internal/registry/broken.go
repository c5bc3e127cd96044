package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Broken is a folder with an empty file for each reference that the registry denies to have. It is looked at with
// each request, so that a running registry sees a change at once.
type Broken string

// Break makes the registry deny a reference, which need not exist.
func (b Broken) Break(reference string) error {
	file, err := b.file(reference)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(b), 0o755); err != nil { // #nosec G301 -- names of images are no secret
		return fmt.Errorf("make the folder of broken images: %w", err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil { // #nosec G306 -- empty
		return fmt.Errorf("break image %s: %w", reference, err)
	}
	return nil
}

// Mend undoes Break.
func (b Broken) Mend(reference string) error {
	file, err := b.file(reference)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mend image %s: %w", reference, err)
	}
	return nil
}

// file is named after the path at which a client asks for the reference, without the registry that it names.
// Source: the endpoints end-3 and end-4 of the OCI Distribution Specification.
func (b Broken) file(reference string) (string, error) {
	parsed, err := name.ParseReference(reference)
	if err != nil {
		return "", fmt.Errorf("parse the name of an image: %w", err)
	}
	path := parsed.Context().RepositoryStr() + "/manifests/" + parsed.Identifier()
	return filepath.Join(string(b), url.PathEscape(path)), nil
}

// deny answers for what is broken as for what is not there, and passes all else on. A push is not denied.
func (b Broken) deny(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		path := strings.TrimPrefix(request.URL.Path, "/v2/")
		reads := request.Method == http.MethodGet || request.Method == http.MethodHead
		info, err := os.Stat(filepath.Join(string(b), url.PathEscape(path)))
		if reads && err == nil && info.Mode().IsRegular() {
			http.Error(writer, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"broken on request"}]}`,
				http.StatusNotFound)
			return
		}
		next.ServeHTTP(writer, request)
	})
}
