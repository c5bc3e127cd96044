package version

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// pinPrefix begins the variables that name etcd's images. OLM's tools list what RELATED_IMAGE_ variables name as what a mirror needs, and
// put digests there.
const pinPrefix = "RELATED_IMAGE_ETCD_"

// digestForm is that of the one algorithm which every registry has.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// repositoryForm is what the OCI distribution specification allows, after the registry's name if there is one.
var repositoryForm = regexp.MustCompile(`^([a-zA-Z0-9.\[\]:-]+/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$`)

// Pinned are images of etcd by digest, at most one of each version, such as repository:v3.6.16@sha256:…. The tag says which version it is,
// and what runs follows from the digest alone.
type Pinned []string

// PinnedBy reads variables such as RELATED_IMAGE_ETCD_3_6_16 from a process's environment. One that is empty, or names an image by its
// tag alone, pins nothing.
func PinnedBy(environ []string) (Pinned, error) {
	var all Pinned
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		version, found := strings.CutPrefix(name, pinPrefix)
		if !found {
			continue
		}
		image, err := pinned(strings.ReplaceAll(version, "_", "."), value)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", name, value, err)
		}
		if image != "" {
			all = append(all, image)
		}
	}
	slices.Sort(all)
	return all, nil
}

// pinned reads the reference to an image of that version. The image is empty if it has no digest.
func pinned(v, reference string) (image string, err error) {
	if _, err := semver.StrictNewVersion(v); err != nil {
		return "", fmt.Errorf("%s is not a version of etcd: name the variable as in %s%s", v, pinPrefix,
			strings.ReplaceAll(DefaultEtcd, ".", "_"))
	}
	if err := Supported(v); err != nil {
		return "", err
	}
	if reference == "" {
		return "", nil
	}
	name, digest, byDigest := strings.Cut(reference, "@")
	repository := Repository(name)
	switch tag := name[len(repository):]; {
	case !repositoryForm.MatchString(repository):
		return "", fmt.Errorf("%q is not the name of an image", repository)
	case tag != "" && tag != ":v"+v:
		return "", fmt.Errorf("the tag is %q, and that of etcd %s is %q", strings.TrimPrefix(tag, ":"), v, "v"+v)
	case tag == "" && !byDigest:
		return "", fmt.Errorf("it has neither a digest nor the tag %q", "v"+v)
	case byDigest && !digestForm.MatchString(digest):
		return "", fmt.Errorf("%q is not a digest: sha256: and 64 hexadecimal digits, in lower case", digest)
	case !byDigest:
		return "", nil
	}
	return Image(repository, v) + "@" + digest, nil
}

// Image is etcd's image of that version. The repository is the one that the cluster's spec or the operator's environment names, empty if
// neither does. A digest is one in its repository, so it does not count in another one.
func (p Pinned) Image(repository, v string) string {
	for _, image := range p {
		if OfImage(image) == v && (repository == "" || Repository(image) == repository) {
			return image
		}
	}
	return Image(repository, v)
}

// With is the same with an image that takes the place of any other of its version and repository; an empty one takes none.
func (p Pinned) With(image string) Pinned {
	if image == "" {
		return p
	}
	others := slices.DeleteFunc(slices.Clone(p), func(other string) bool {
		return OfImage(other) == OfImage(image) && Repository(other) == Repository(image)
	})
	return append(Pinned{image}, others...)
}

// ByDigest is the image of that version in a repository by a digest such as sha256:…, empty if that is no digest.
func ByDigest(repository, v, digest string) string {
	if !digestForm.MatchString(digest) {
		return ""
	}
	return Image(repository, v) + "@" + digest
}

// From reports whether an image that the operator has asked for is one from that repository. If none is named, an image by digest is: it
// comes from where its digest was given for, and another place given for a later one makes no difference to those that run.
func From(repository, image string) bool {
	name, _, byDigest := strings.Cut(image, "@")
	v := OfImage(name)
	return name == Image(repository, v) || repository == "" && byDigest && v != ""
}

// Repository is an image's name without tag and digest.
func Repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[:i]
	}
	return image
}
