package anomaly

import "time"

// Probes are what a member has observed of its probes of another one (etcd_network_peer_round_trip_time_seconds). It sends two every four
// seconds, and observes of each, every half minute, how long the last ones took: that is smoothed (rafthttp/probing_status.go). One probe uses a
// connection that stays, and takes one round trip. The other one connects first (transport.NewTimeoutTransport), and takes two round trips, or
// three with TLS. So the quickest quarter of what is observed are round trips, and the mean is one and a half of them, or two.
type Probes struct {
	// Took has how many took up to 0.1 ms, 0.2 ms, 0.4 ms and so on, the last one all (rafthttp/metrics.go: ExponentialBuckets(0.0001, 2, 16)).
	Took Buckets
	// Sum is how long all took together, in seconds.
	Sum float64
}

// Buckets are those of a histogram.
type Buckets [17]uint32

// Way is from a member to another one.
type Way struct{ From, To uint64 }

// Since are those that were not there before.
func (p Probes) Since(before Probes) Probes {
	for i, n := range before.Took {
		p.Took[i] -= min(n, p.Took[i])
	}
	p.Sum = max(0, p.Sum-before.Sum)
	return p
}

const (
	// shortest is the upper bound of the first bucket.
	shortest = 100 * time.Microsecond
	// fewest is how many probes of an hour say anything. There are 240 of each way.
	fewest = 20
	// perTrip is how many round trips the mean probe takes at least, so that a round trip that is worked out from it is not too short.
	perTrip = 1.5
)
