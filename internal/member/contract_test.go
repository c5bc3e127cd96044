package member

import (
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	const whole = `{"name":"db-0","peerURL":"http://p:2380","clientURL":"http://p:2379","dataDir":"/d",` +
		`"options":{"snapshot-count":"5"}}`
	c, err := ParseConfig(whole)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "db-0" || c.DataDir != "/d" || c.Options["snapshot-count"] != "5" {
		t.Errorf("ParseConfig = %+v", c)
	}
	nameless, homeless := strings.Replace(whole, "db-0", "", 1), strings.Replace(whole, "/d", "", 1)
	for _, text := range []string{"", "{}", "[]", nameless, homeless} {
		if _, err := ParseConfig(text); err == nil {
			t.Errorf("ParseConfig(%q) gives no error", text)
		}
	}
}

func TestRefusal(t *testing.T) {
	r := Refusal{Reason: DataLost, Message: "gone", Attempt: 2}
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := ParseRefusal(string(text)); !ok || got != r {
		t.Errorf("ParseRefusal(%s) = %+v, %v", text, got, ok)
	}
	for _, foreign := range []string{"", "panic: out of memory", "{}", `{"level":"fatal"}`, "null", "7"} {
		if got, ok := ParseRefusal(foreign); ok {
			t.Errorf("ParseRefusal(%q) = %+v, true", foreign, got)
		}
	}
}

// TestRefusalFits holds a long message to what the kubelet keeps, and cuts it between characters.
func TestRefusalFits(t *testing.T) {
	for _, long := range []string{strings.Repeat("\x01", 9000), strings.Repeat("é", 9000), "x" + strings.Repeat("é", 9000)} {
		r := Refusal{Reason: BadConfig, Message: long}
		text, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if limit := 4096; len(text) > limit {
			t.Errorf("%d bytes, want at most %d", len(text), limit)
		}
		got, ok := ParseRefusal(string(text))
		if !ok || got.Reason != BadConfig || len(got.Message) > maxMessage || !strings.HasPrefix(long, strings.TrimSuffix(got.Message, "…")) {
			t.Errorf("ParseRefusal = %+v, %v", got, ok)
		}
	}
}

func TestPermit(t *testing.T) {
	p := Permit{
		Mode: ModeJoin, ClusterID: 1, MemberID: 0xfedcba9876543210, InitialCluster: "a=http://a:2380", Token: "t",
		PodUID: "u", Attempt: 3,
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"mode":"join","clusterID":"0000000000000001","memberID":"fedcba9876543210",` +
		`"initialCluster":"a=http://a:2380","token":"t","podUID":"u","attempt":3}`
	if text != want {
		t.Errorf("Encode = %s, want %s", text, want)
	}
	if got, err := ParsePermit(text); err != nil || *got != p {
		t.Errorf("ParsePermit = %+v, %v", got, err)
	}
	for name, bad := range map[string]string{
		"empty":              "",
		"no JSON":            "yes",
		"no mode":            strings.Replace(want, "join", "", 1),
		"unknown mode":       strings.Replace(want, "join", "force", 1),
		"ID is not hex":      strings.Replace(want, "fedcba9876543210", "no", 1),
		"ID is too long":     strings.Replace(want, "fedcba9876543210", "11112222333344445", 1),
		"no member":          strings.Replace(want, "fedcba9876543210", "0", 1),
		"no cluster":         strings.Replace(want, "0000000000000001", "0", 1),
		"no pod":             strings.Replace(want, `"u"`, `""`, 1),
		"no token":           strings.Replace(want, `"t"`, `""`, 1),
		"no attempt":         strings.Replace(want, `3}`, `0}`, 1),
		"no initial cluster": strings.Replace(want, "a=http://a:2380", "", 1),
	} {
		if got, err := ParsePermit(bad); err == nil {
			t.Errorf("%s: ParsePermit(%s) = %+v, want an error", name, bad, got)
		}
	}
	const resume = `{"mode":"resume","clusterID":"0000000000000001","memberID":"0000000000000002"}`
	if _, err := ParsePermit(resume); err != nil {
		t.Errorf("ParsePermit(%s): %v", resume, err)
	}
}
