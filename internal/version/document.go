package version

import "regexp"

// source is where the source tree is read, followed by the name of a branch or tag and the path of a file.
const source = "https://github.com/etcdpilot/etcd-operator/blob/"

var (
	// tag is what a release calls itself.
	tag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	// after is the end of what a build of a later commit, or of one that was changed, calls itself: git describe begins with the last tag.
	after = regexp.MustCompile(`-\d+-g[0-9a-f]+$|-dirty$`)
)

// Document is the address of a file of the source tree, such as docs/reasons.md, or of a title in it: as this release has it, or, if this is none, as it is now.
func Document(path string) string { return documentOf(Operator, path) }

func documentOf(version, path string) string {
	if tag.MatchString(version) && !after.MatchString(version) {
		return source + version + "/" + path
	}
	return source + "main/" + path
}
