package version

import (
	"slices"
	"strings"
	"testing"
)

const (
	digestA = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	digestB = "sha256:fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
)

func TestPinnedBy(t *testing.T) {
	const quay = "RELATED_IMAGE_ETCD_3_6_16=quay.io/coreos/etcd"
	for given, want := range map[string]struct {
		pinned  Pinned
		problem string
	}{
		"":                           {nil, ""},
		quay + ":v3.6.16":            {nil, ""},
		"RELATED_IMAGE_OPERATOR=x":   {nil, ""},
		"RELATED_IMAGE_ETCD_3_6_16=": {nil, ""},
		quay + ":v3.6.16@" + digestA: {Pinned{"quay.io/coreos/etcd:v3.6.16@" + digestA}, ""},
		quay + "@" + digestA:         {Pinned{"quay.io/coreos/etcd:v3.6.16@" + digestA}, ""},
		"RELATED_IMAGE_ETCD_3_7_3=mirror.example:5000/x/etcd@" + digestA: {
			Pinned{"mirror.example:5000/x/etcd:v3.7.3@" + digestA}, "",
		},
		quay + "@" + digestA + "\nRELATED_IMAGE_ETCD_3_5_99=etcd@" + digestB: { // a patch release that is not in Tested
			Pinned{"etcd:v3.5.99@" + digestB, "quay.io/coreos/etcd:v3.6.16@" + digestA}, "",
		},
		quay:                                               {nil, `RELATED_IMAGE_ETCD_3_6_16=quay.io/coreos/etcd: it has neither a digest nor the tag "v3.6.16"`},
		quay + ":v3.6.15":                                  {nil, `the tag is "v3.6.15", and that of etcd 3.6.16 is "v3.6.16"`},
		quay + ":v3.6.15@" + digestA:                       {nil, `the tag is "v3.6.15"`},
		quay + ":3.6.16@" + digestA:                        {nil, `the tag is "3.6.16"`},
		quay + "@sha256:0123":                              {nil, `"sha256:0123" is not a digest`},
		quay + "@" + strings.ToUpper(digestA):              {nil, "is not a digest"},
		quay + "@" + digestA + "@" + digestA:               {nil, "is not a digest"},
		quay + ":v3.6.16@":                                 {nil, `"" is not a digest`},
		"RELATED_IMAGE_ETCD_3_6_16=@" + digestA:            {nil, `"" is not the name of an image`},
		"RELATED_IMAGE_ETCD_3_6_16=Quay/Etcd x@" + digestA: {nil, "is not the name of an image"},
		"RELATED_IMAGE_ETCD_3_5_31=etcd@" + digestA:        {nil, "use 3.5.32 or later"},
		"RELATED_IMAGE_ETCD_3_8_0=etcd@" + digestA:         {nil, "not supported by this operator"},
		"RELATED_IMAGE_ETCD_3_6=etcd@" + digestA:           {nil, "3.6 is not a version of etcd: name the variable as in RELATED_IMAGE_ETCD_3_6_16"},
		"RELATED_IMAGE_ETCD_LATEST=etcd@" + digestA:        {nil, "LATEST is not a version of etcd"},
	} {
		got, err := PinnedBy(append([]string{"PATH=/bin"}, strings.Split(given, "\n")...))
		if !slices.Equal(got, want.pinned) || (err != nil) != (want.problem != "") ||
			err != nil && !strings.Contains(err.Error(), want.problem) {
			t.Errorf("%s: %v, %v; want %v, an error with %q", given, got, err, want.pinned, want.problem)
		}
	}
}

func TestPinnedImage(t *testing.T) {
	const mirror, quay = "mirror.example:5000/etcd", "quay.io/coreos/etcd:v3.6.16@" + digestA
	pinned := Pinned{quay, mirror + ":v3.7.3@" + digestB}
	for _, c := range []struct{ repository, version, want string }{
		{"", "3.6.16", quay},
		{"", "3.6.15", "quay.io/coreos/etcd:v3.6.15"},
		{"", "3.7.3", mirror + ":v3.7.3@" + digestB},
		{"quay.io/coreos/etcd", "3.6.16", quay},
		{mirror, "3.6.16", mirror + ":v3.6.16"},
		{mirror, "3.7.3", mirror + ":v3.7.3@" + digestB},
		{"quay.io/coreos/etcd", "3.7.3", "quay.io/coreos/etcd:v3.7.3"},
	} {
		got := pinned.Image(c.repository, c.version)
		if got != c.want || OfImage(got) != c.version || !From(c.repository, got) {
			t.Errorf("etcd %s of %q is %s, of version %s; want %s", c.version, c.repository, got, OfImage(got), c.want)
		}
		if got := Pinned(nil).Image(c.repository, c.version); got != Image(c.repository, c.version) {
			t.Errorf("without digests etcd %s of %q is %s", c.version, c.repository, got)
		}
	}
}

// TestFrom wants only a repository that somebody has named to make a difference to an image that runs.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		repository, image string
		want              bool
	}{
		{"", "quay.io/coreos/etcd:v3.6.16", true},
		{"", "quay.io/coreos/etcd:v3.6.16@" + digestA, true},
		{"", "mirror/etcd:v3.6.16@" + digestA, true},
		{"", "mirror/etcd:v3.6.16", false},
		{"", "mirror/etcd@" + digestA, false},
		{"", "busybox", false},
		{"mirror/etcd", "mirror/etcd:v3.6.16", true},
		{"mirror/etcd", "mirror/etcd:v3.6.16@" + digestA, true},
		{"mirror/etcd", "quay.io/coreos/etcd:v3.6.16@" + digestA, false},
		{"mirror/etcd", "mirror/etcd:latest", false},
	} {
		if got := From(c.repository, c.image); got != c.want {
			t.Errorf("%s is from %q: %t, want %t", c.image, c.repository, got, c.want)
		}
	}
}
