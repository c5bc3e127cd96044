package world

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Status is the durable part of the EtcdCluster's status.
type Status struct {
	plan.Record
	// Taken and Off are the highest numbers of restores that were taken up and canceled.
	Taken, Off int
}

// specText is what status notes of a spec: what pods are made from.
func specText(template, labels int) string {
	if labels == 0 {
		return strconv.Itoa(template)
	}
	return fmt.Sprintf("%d/%d", template, labels)
}

// previousTemplate is the one that members are made from which an update has not reached: the present one if there is none under
// way.
func (s *Status) previousTemplate() int { return template(cmp.Or(s.PreviousSpec, s.AcceptedSpec)) }

// previousLabels are the labels of that spec.
func (s *Status) previousLabels() int {
	_, labels, _ := strings.Cut(cmp.Or(s.PreviousSpec, s.AcceptedSpec), "/")
	return template(labels)
}

// template is the one of the spec that is carried out.
func (k *Kube) template() int {
	if k.Invalid && k.Status.AcceptedSpec != "" {
		return template(k.Status.AcceptedSpec)
	}
	return k.Template
}

// template is what specText was made of, 0 of none.
func template(text string) int {
	text, _, _ = strings.Cut(text, "/")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// logs says what is known of the members' logs: 1 while they are etcd 3.5's, 2 while they may hold entries of it, 0 otherwise.
func logs(r *plan.Record) int {
	switch {
	case r.SnapshotDue:
		return 2
	case minorOf(r.LowestVersion) == 5:
		return 1
	}
	return 0
}

// moved reports whether leadership was taken from a slow disk a moment ago.
func (s *Status) moved() bool { return s.LeaderMoved.Equal(base) }
