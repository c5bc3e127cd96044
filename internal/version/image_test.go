package version

import "testing"

func TestImage(t *testing.T) {
	for image, want := range map[string]string{
		Image("", "3.6.16"):                            "quay.io/coreos/etcd:v3.6.16",
		Image("registry.example.com:5000/x", "3.7.3"):  "registry.example.com:5000/x:v3.7.3",
		Image("registry.example.com:v1/x", "3.7.0-rc"): "registry.example.com:v1/x:v3.7.0-rc",
	} {
		if image != want {
			t.Errorf("image %s, want %s", image, want)
		}
	}
	for image, want := range map[string]string{
		"quay.io/coreos/etcd:v3.6.16": "3.6.16", "busybox": "", "registry.example.com:v1/x:v3.7.3": "3.7.3",
		"quay.io/coreos/etcd:v3.6.16@sha256:0123": "3.6.16", "registry.example.com/etcd@sha256:0123": "",
	} {
		if got := OfImage(image); got != want {
			t.Errorf("OfImage(%s) = %q, want %q", image, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"3.6.16", "3.6.9", 1}, {"3.5", "3.6", -1}, {"3.6", "3.6.0", 0}, {"", "3.5", -1}, {"3.5", "", 1}, {"", "", 0},
	} {
		if got := Compare(c.a, c.b); got != c.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestMinor(t *testing.T) {
	for v, want := range map[string]string{"3.6.16": "3.6", "3.6": "3.6", "3.7.0-rc.0": "3.7", "": "", "unknown": ""} {
		if got := Minor(v); got != want {
			t.Errorf("Minor(%q) = %q, want %q", v, got, want)
		}
	}
}
