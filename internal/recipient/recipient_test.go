package recipient

import (
	"strings"
	"testing"

	"filippo.io/age"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// zero is the point 0 with a right checksum: nothing can be encrypted to it.
const zero = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z"

func TestParse(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	good := identity.Recipient().String()
	if all, err := Parse([]string{good}); err != nil || len(all) != 1 || all[0].String() != good {
		t.Fatalf("got %v, %v", all, err)
	}
	if all, err := Parse(nil); err != nil || len(all) != 0 {
		t.Errorf("of none: %v, %v", all, err)
	}
	mistyped := []byte(good)
	if mistyped[40] = 'q'; good[40] == 'q' {
		mistyped[40] = 'p'
	}
	for title, key := range map[string]string{
		"mistyped": string(mistyped), "swapped": good[:20] + good[21:22] + good[20:21] + good[22:60] + "qq", "cut off": good[:50],
		"a secret key": identity.String(), "nothing": "", "a point of low order": zero,
	} {
		_, err := Parse([]string{good, key})
		p, ok := failure.Of(err)
		if !ok || p.Reason != v1beta2.ReasonEncryptionKeyRefused || !p.Terminal ||
			!strings.Contains(p.Message, "spec.encryptionRecipients[1]") || strings.Contains(p.Message, "AGE-SECRET-KEY-1") {
			t.Errorf("%s: got %v", title, err)
		}
	}
}
