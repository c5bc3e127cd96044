package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// What users ask of peers and clients.
var (
	tlsForPeers   = transport(member.Transport{PeerTLS: true})
	tlsForClients = transport(member.Transport{ClientTLS: true})
	tlsForAll     = transport(member.Transport{PeerTLS: true, ClientTLS: true})
	plainToo      = transport(member.Transport{ClientTLS: true, ClientBoth: true})
	noTLS         = transport(member.Transport{})
)

func transport(t member.Transport) edit { return func(s *world.Spec) { s.Transport = t } }

// interruptions are what may befall a switch: members that stop, and an operator that stops between any two of its effects.
var interruptions = slices.Concat(world.Kills, world.OperatorFaults)

// switches are the scenarios in which a running cluster is switched between plain text and TLS. Edits come at any time, so a switch that is
// rolled back is so at every step of it.
var switches = map[string]scenario{
	"to TLS of 1":               {sizes: []int{1}, edits: []edit{tlsForAll}, only: interruptions, faults: 1, full: 2},
	"to TLS of 3":               {sizes: []int{3}, edits: []edit{tlsForAll}, only: interruptions, faults: 1, full: 2},
	"TLS for peers, taken back": {sizes: []int{3}, edits: []edit{tlsForPeers, noTLS}, only: interruptions, full: 1},
	"from TLS, and back":        {sizes: []int{3}, first: tlsForAll, edits: []edit{noTLS, tlsForAll}, only: interruptions, full: 1},
	"grows as it is switched":   {sizes: []int{1}, edits: []edit{tlsForAll, size(3)}, only: interruptions, full: 1},
	"updated as it is switched": {sizes: []int{3}, version: "3.6.16", edits: []edit{tlsForAll, version("3.7.3")}, only: interruptions, full: 1},
	"restore as it is switched": {sizes: []int{1}, edits: []edit{tlsForAll, snapshot(1)}, only: interruptions, full: 1},
	"clients may do without":    {sizes: []int{1}, first: plainToo, edits: []edit{tlsForClients, plainToo, noTLS}, only: interruptions, full: 1},

	"bad edit as it is switched":  {sizes: []int{3}, edits: []edit{tlsForAll, template(-1), template(0)}, only: world.Kills, faults: 1, full: 2},
	"bad edit, and switched back": {sizes: []int{3}, edits: []edit{tlsForAll, template(-1), back}, only: world.Kills, full: 1},
	"none starts with both":       {sizes: []int{3}, edits: []edit{tlsForAll, noTLS}, crowded: true, only: world.Kills, faults: 1, full: 2},
	"one has no port for both":    {sizes: []int{1}, edits: []edit{tlsForPeers, noTLS}, crowded: true, only: world.Kills, faults: 1, full: 2},
	"none reaches the other port": {sizes: []int{3}, edits: []edit{tlsForAll, noTLS}, walled: true, only: world.Kills, faults: 1, full: 2},
	"no TLS for the operator":     {sizes: []int{3}, edits: []edit{tlsForClients, noTLS}, deaf: true, only: world.Kills, faults: 1, full: 2},
	"taken back, and asked again": {sizes: []int{3}, edits: []edit{tlsForAll, noTLS, tlsForAll}, only: world.Kills, full: 1},
}

// back is an edit of a bad template and of the transport.
func back(s *world.Spec) { noTLS(s); template(0)(s) }
