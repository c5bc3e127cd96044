package plan

import (
	"crypto/sha1" //nolint:gosec // etcd derives its IDs so; nothing is kept secret by it
	"encoding/binary"
	"slices"
)

// IDs computes the IDs that etcd derives for the initial members and the cluster: the first eight bytes of the SHA-1 of a
// member's peer URLs and the token, and of all member IDs in order (computeMemberID and genID in etcd's membership package).
func IDs(token string, peerURLs map[string]string) (members map[string]uint64, cluster uint64) {
	members = map[string]uint64{}
	var ids []uint64
	for name, url := range peerURLs {
		members[name] = first8([]byte(url + token))
		ids = append(ids, members[name])
	}
	slices.Sort(ids)
	var all []byte
	for _, id := range ids {
		all = binary.BigEndian.AppendUint64(all, id)
	}
	return members, first8(all)
}

func first8(data []byte) uint64 {
	sum := sha1.Sum(data) //nolint:gosec // see the import
	return binary.BigEndian.Uint64(sum[:8])
}
