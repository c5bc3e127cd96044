package version

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Image is etcd's image of that version; of the default repository if none is given.
func Image(repository, v string) string {
	if repository == "" {
		repository = DefaultRepository
	}
	return repository + ":v" + v
}

// OfImage is the etcd version in an image made by Image, empty if there is none.
func OfImage(image string) string {
	if i := strings.LastIndex(image, ":v"); i >= 0 {
		return image[i+len(":v"):]
	}
	return ""
}

// Compare orders versions, full ones or minor ones such as "3.6"; what is no version comes first.
func Compare(a, b string) int {
	if a == b { // almost always
		return 0
	}
	first, errA := semver.NewVersion(a)
	second, errB := semver.NewVersion(b)
	switch {
	case errA != nil || errB != nil:
		return yes(errB != nil) - yes(errA != nil)
	default:
		return first.Compare(second)
	}
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}
