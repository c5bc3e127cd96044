package enforce

import (
	"encoding/binary"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// connection is what the first packet of one says of it.
type connection struct {
	from, to netip.Addr
	protocol corev1.Protocol
	port     int
}

// protocols are those that NetworkPolicies know, by their numbers in IP. Each has the port of the destination at the same place.
var protocols = map[byte]corev1.Protocol{6: corev1.ProtocolTCP, 17: corev1.ProtocolUDP, 132: corev1.ProtocolSCTP}

// parse reads an IPv4 packet (RFC 791). It reports false for one of a protocol without ports, or without all that is needed.
func parse(packet []byte) (connection, bool) {
	const fixed, ports, word = 20, 4, 4
	if len(packet) < fixed || packet[0]>>4 != 4 {
		return connection{}, false
	}
	header := int(packet[0]&0xf) * word
	protocol, known := protocols[packet[9]]
	if !known || header < fixed || len(packet) < header+ports {
		return connection{}, false
	}
	return connection{
		from: netip.AddrFrom4([4]byte(packet[12:16])), to: netip.AddrFrom4([4]byte(packet[16:20])),
		protocol: protocol, port: int(binary.BigEndian.Uint16(packet[header+2:])),
	}, true
}
