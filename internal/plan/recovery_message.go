package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// message says what the plan does, what it costs, and how it is confirmed.
func (r *Recovery) message(c Cluster) string {
	text := fmt.Sprintf("what %s holds, up to revision %d, can be made the cluster's data; writes that were acknowledged after that "+
		"revision are lost then", r.Survivor, r.Revision)
	text += r.aboutOthers() + r.aboutWrong() + r.aboutDoubt(c.Doubt)
	if len(r.Silent) > 0 {
		text += fmt.Sprintf(". %s may still have them, and may be serving clients where the operator does not see it: bring back what can "+
			"be brought back, and be sure that the rest is off", list(r.Silent))
	}
	if len(r.Lost) > 0 {
		text += fmt.Sprintf(". Of %s there is no data left; if their pods or Nodes were removed by force, etcd may still run there: be sure that "+
			"those machines are off", list(r.Lost))
	}
	if r.HeldBack != "" {
		text += ". Before that, " + r.HeldBack
	}
	text += fmt.Sprintf(". To confirm: kubectl -n %s annotate --overwrite etcdclusters.%s %s %s=%s", c.Namespace, v1beta2.GroupVersion.Group, c.Name,
		v1beta2.AnnotationRecover, r.Hash)
	if b := c.Recovery.Backup; b.Snapshot != "" {
		text += fmt.Sprintf(". The newest verified backup is %s of EtcdBackup %s, revision %d, taken at %s", b.Snapshot, b.EtcdBackup,
			b.Revision, b.Taken.UTC().Format(time.RFC3339))
	}
	return text
}

// aboutWrong is what has to be known of a member whose data differed.
func (r *Recovery) aboutWrong() string {
	switch {
	case len(r.Wrong) == 0:
		return ""
	case slices.Contains(r.Wrong, r.Survivor):
		return ". But its data was found to differ from what a majority of the voters agreed on, so keys may have wrong values: a backup may be better"
	}
	return fmt.Sprintf(". %s answers, too, and is not taken: its data was found to differ from what a majority of the voters agreed on", list(r.Wrong))
}

// aboutDoubt is what has to be known where nobody knows whose data is right, or the user has said that they judge it.
func (r *Recovery) aboutDoubt(d Doubt) string {
	switch {
	case d.Suspect != 0 && len(r.Wrong) == 0 && r.Candidates[0].MemberID == d.Suspect:
		return ". But its data was found to differ from the others', and with mode Off it is you who judges whose is right"
	case !d.Split:
		return ""
	}
	return fmt.Sprintf(". But the voters' data was found to differ, and no majority agreed: what %s holds may be wrong, and what another one holds, or a backup, "+
		"may be right", r.Survivor)
}

// aboutOthers is what the members that are not taken have: one that has far less, or a survivor that has far more than is possible, shows.
func (r *Recovery) aboutOthers() string {
	if len(r.Candidates) < 2 {
		return ""
	}
	var all []string
	for _, a := range r.Candidates {
		all = append(all, fmt.Sprintf("%s entry %d, revision %d", a.Pod, a.Applied, a.Revision))
	}
	return ". Those that answer have applied: " + strings.Join(all, "; ")
}

// recoveryAdvice is for the messages that report a lost quorum.
func (v *view) recoveryAdvice() string {
	if v.Recovery == nil {
		return ""
	}
	return ". If no more members can be brought back, " + v.Recovery.Message
}
