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

// Broken is a folder with an empty file for each reference that the registry denies to have, and for each repository of
// which it has digests only. It is looked at with each request, so that a running registry sees a change at once.
type Broken string

// anyTag is in the place of a tag, and can be none.
const anyTag = "*"

// Break makes the registry deny a reference, which need not exist.
func (b Broken) Break(reference string) error {
	file, err := b.file(reference)
	if err != nil {
		return err
	}
	return b.add(file, reference)
}

// BreakTags makes the registry deny all tags of a repository, as a mirror does that has images by digest only.
func (b Broken) BreakTags(repository string) error {
	file, err := b.tags(repository)
	if err != nil {
		return err
	}
	return b.add(file, repository)
}

func (b Broken) add(file, what string) error {
	if err := os.MkdirAll(string(b), 0o755); err != nil { // #nosec G301 -- names of images are no secret
		return fmt.Errorf("make the folder of broken images: %w", err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil { // #nosec G306 -- empty
		return fmt.Errorf("break image %s: %w", what, err)
	}
	return nil
}

// Mend undoes Break.
func (b Broken) Mend(reference string) error {
	file, err := b.file(reference)
	if err != nil {
		return err
	}
	return b.remove(file, reference)
}

// MendTags undoes BreakTags.
func (b Broken) MendTags(repository string) error {
	file, err := b.tags(repository)
	if err != nil {
		return err
	}
	return b.remove(file, repository)
}

func (b Broken) remove(file, what string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mend image %s: %w", what, err)
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
	return b.manifest(parsed.Context(), parsed.Identifier()), nil
}

// tags is the file for all tags of a repository.
func (b Broken) tags(repository string) (string, error) {
	parsed, err := name.NewRepository(repository)
	if err != nil {
		return "", fmt.Errorf("parse the name of a repository: %w", err)
	}
	return b.manifest(parsed, anyTag), nil
}

func (b Broken) manifest(repository name.Repository, identifier string) string {
	return filepath.Join(string(b), url.PathEscape(repository.RepositoryStr()+"/manifests/"+identifier))
}

// deny answers for what is broken as for what is not there, and passes all else on. A push is not denied.
func (b Broken) deny(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		path := strings.TrimPrefix(request.URL.Path, "/v2/")
		reads := request.Method == http.MethodGet || request.Method == http.MethodHead
		if reads && (b.has(path) || b.has(withAnyTag(path))) {
			http.Error(writer, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"broken on request"}]}`,
				http.StatusNotFound)
			return
		}
		next.ServeHTTP(writer, request)
	})
}

func (b Broken) has(path string) bool {
	info, err := os.Stat(filepath.Join(string(b), url.PathEscape(path)))
	return err == nil && info.Mode().IsRegular()
}

// withAnyTag is the same path for all tags of its repository, and empty if it has no tag.
func withAnyTag(path string) string {
	repository, identifier, manifest := strings.Cut(path, "/manifests/")
	if !manifest || strings.Contains(identifier, ":") {
		return ""
	}
	return repository + "/manifests/" + anyTag
}
