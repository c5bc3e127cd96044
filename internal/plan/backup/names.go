package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

const (
	// nameLimit is that of a DNS label: pods have their names as host names.
	nameLimit = 63
	hashBytes = 4
)

// PodName is the name of the pod of a run's try. No other run and no other try has the same one, so that a pod that is
// there already is the one that is meant.
func PodName(owner string, r Run) string {
	tail := fmt.Sprintf("-%s-%s-%d", strings.ToLower(string(r.Task)), strconv.FormatInt(r.Due.Unix(), 36), r.Attempt)
	if len(owner)+len(tail) <= nameLimit {
		return owner + tail
	}
	sum := sha256.Sum256([]byte(owner))
	tail = "-" + hex.EncodeToString(sum[:hashBytes]) + tail
	return strings.TrimRight(owner[:nameLimit-len(tail)], "-.") + tail
}
