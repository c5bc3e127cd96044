package status

import (
	"fmt"
	"slices"
	"strings"
)

// switching says how far a switch between plain text and TLS is, and that clients may do without TLS where there is TLS; empty if neither is
// so.
func switching(in Input) string {
	o := in.Observed
	has, asked := o.Cluster.Transport, o.Cluster.SpecTransport
	if !hasClusterID(&in.Cluster.Status) || o.Cluster.Invalid != nil {
		return ""
	}
	var following []string
	for _, p := range o.Pods {
		if o.Cluster.CurrentPod(p) && p.Transport.Served() != has.Served() {
			following = append(following, p.Name)
		}
	}
	settled := has.PeerTLS == asked.PeerTLS && has.ClientTLS == asked.ClientTLS && !has.PeerBoth && has.ClientBoth == asked.ClientBoth
	switch {
	case settled && len(following) == 0 && asked.ClientBoth: // said for as long as it is so
		return "clients may connect without TLS (spec.tls.plaintextClients)"
	case settled && len(following) == 0:
		return ""
	}
	text := fmt.Sprintf("switching to %s", asked)
	if has.PeerBoth || has.ClientBoth && !asked.ClientBoth {
		text += fmt.Sprintf(" by way of %s", has)
	}
	if len(following) > 0 {
		slices.Sort(following)
		text += "; still to follow: " + strings.Join(following, ", ")
	}
	return text
}
