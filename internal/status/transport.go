package status

import (
	"fmt"
	"slices"
	"strings"
)

// switching says how far a switch between plain text and TLS is; empty if none is going on.
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
	if settled && len(following) == 0 {
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
