package version

import "github.com/Masterminds/semver/v3"

// Plain is the version that a server calls itself if a spec can ask for it, such as 3.6.16, and empty otherwise: a server may call itself anything.
func Plain(v string) string {
	parsed, err := semver.StrictNewVersion(v)
	if err != nil || parsed.Prerelease() != "" || parsed.Metadata() != "" {
		return ""
	}
	return v
}
