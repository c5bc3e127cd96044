package version

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Image is etcd's image of that version; from the default repository if the repository is empty.
func Image(repository, v string) string {
	if repository == "" {
		repository = DefaultRepository
	}
	return repository + ":v" + v
}

// CheckRepository returns an error that says what to remove if Image can make no image of that repository.
func CheckRepository(repository string) error {
	if i := strings.IndexByte(repository, '@'); i >= 0 {
		return fmt.Errorf("has a digest: remove %q, as images are named by the version of etcd", repository[i:])
	}
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		return fmt.Errorf("has a tag: remove %q, the tag is v and the version of etcd", repository[i:])
	}
	return nil
}

// OfImage is the etcd version in an image made by Image, empty if there is none. A digest may follow it.
func OfImage(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":v"); i >= 0 {
		return image[i+len(":v"):]
	}
	return ""
}

// Compare orders versions, full ones or minor ones such as "3.6"; invalid ones come first.
func Compare(a, b string) int {
	if a == b { // almost always
		return 0
	}
	first, errA := parse(a)
	second, errB := parse(b)
	switch {
	case errA != nil && errB != nil:
		return 0
	case errA != nil:
		return -1
	case errB != nil:
		return 1
	}
	return first.Compare(second)
}

// Minor is a version's minor release in etcd's own form, such as "3.6"; empty if it is not a version.
func Minor(v string) string {
	parsed, err := parse(v)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor())
}

// parse reads a whole version, which almost all are, without the regular expression that others take.
func parse(v string) (*semver.Version, error) {
	if whole, err := semver.StrictNewVersion(v); err == nil {
		return whole, nil
	}
	return semver.NewVersion(v)
}
