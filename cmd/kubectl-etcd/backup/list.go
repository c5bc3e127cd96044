package backup

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// Group are snapshots that belong together: those of an EtcdBackup, or in a bucket those of a lineage.
type Group struct {
	// Backup is the name of the EtcdBackup, empty if a bucket was read.
	Backup string `json:"backup,omitempty"`
	// URL is where the snapshots are.
	URL string `json:"url"`
	// Cluster is namespace and name of the EtcdCluster that the data are of, and ClusterID etcd's, in hexadecimal, where a bucket was read.
	Cluster   string `json:"cluster,omitempty"`
	ClusterID string `json:"clusterID,omitempty"`
	// Latest is whether a restore that names no snapshot takes the first of these, as far as a bucket says.
	Latest bool `json:"latest,omitempty"`
	// Count is how many there are: an EtcdBackup names the latest only.
	Count     int        `json:"count"`
	Snapshots []Snapshot `json:"snapshots"`
	// Problems are what is wrong.
	Problems []string `json:"problems,omitempty"`

	// flags are what to tell "backup list" beside the URL.
	flags string
	// failure is the reason for which the last one failed, which is the first of Problems then.
	failure string
}

// Snapshot is one of them.
type Snapshot struct {
	Name        string    `json:"name"`
	Taken       time.Time `json:"taken"`
	Revision    int64     `json:"revision"`
	EtcdVersion string    `json:"etcdVersion"`
	// SizeBytes is the size of the database, StoredBytes that of the object.
	SizeBytes   int64 `json:"sizeBytes"`
	StoredBytes int64 `json:"storedBytes"`
	// Verification is how it was verified, which a bucket does not say.
	Verification string `json:"verification,omitempty"`
	// Stale is whether it was taken without a quorum.
	Stale     bool   `json:"stale,omitempty"`
	ClusterID string `json:"clusterID,omitempty"`
}

// ofBackup is what the status of an EtcdBackup says.
func ofBackup(b v1beta2.EtcdBackup) Group {
	g := Group{Backup: b.Name, Count: int(b.Status.SnapshotCount), Snapshots: []Snapshot{}, flags: flags(b.Spec.Storage)}
	if b.Spec.Storage != nil {
		g.URL = b.Spec.Storage.URL
	}
	for _, s := range b.Status.Snapshots {
		g.Snapshots = append(g.Snapshots, Snapshot{
			Name: s.Name, Taken: s.CreationTime.UTC(), Revision: s.Revision, EtcdVersion: s.EtcdVersion, SizeBytes: s.SizeBytes,
			StoredBytes: s.StoredSizeBytes, Verification: string(s.Verification), Stale: s.Stale, ClusterID: s.ClusterID,
		})
		if g.URL == "" {
			g.URL = strings.TrimSuffix(s.URL, "/"+s.Name)
		}
	}
	g.Count = max(g.Count, len(g.Snapshots))
	if c := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp); c != nil && c.Status == metav1.ConditionFalse {
		g.failure = c.Reason
		g.Problems = append(g.Problems, "the last one failed: "+c.Reason+": "+c.Message)
	}
	if b.Spec.Suspend {
		g.Problems = append(g.Problems, "no new ones are taken: spec.suspend is set")
	}
	if len(b.Status.Lineages) > 1 {
		g.Problems = append(g.Problems, fmt.Sprintf("they are of %d lineages: the cluster was created anew or restored; see status.lineages",
			len(b.Status.Lineages)))
	}
	return g
}

// write writes groups for a person.
func write(out io.Writer, groups []Group, now time.Time) error {
	var t strings.Builder
	for i, g := range groups {
		if i > 0 {
			t.WriteString("\n")
		}
		g.write(&t, now)
	}
	_, err := io.WriteString(out, t.String())
	return err
}

func (g Group) write(t *strings.Builder, now time.Time) {
	head := g.Backup
	if head == "" {
		head = g.Cluster
	}
	line(t, head, g.URL)
	if g.ClusterID != "" {
		output.Say(t, "etcd's cluster ID %s%s", g.ClusterID, g.latest())
	}
	for i, problem := range g.Problems {
		output.Warn(t, "%s", problem)
		if link := reasons.Link(g.failure); i == 0 && link != "" {
			line(t, reasons.Lead+link)
		}
	}
	if len(g.Snapshots) == 0 {
		line(t, "no snapshots yet")
		return
	}
	rows := [][]string{{"AGE", "SIZE", "CHECKED", "SNAPSHOT"}}
	for _, s := range g.Snapshots {
		rows = append(rows, []string{
			duration.ShortHumanDuration(now.Sub(s.Taken)), terminal.Size(s.StoredBytes), check(s), s.Name,
		})
	}
	for _, row := range terminal.Table(rows) {
		line(t, row...)
	}
	if more := g.Count - len(g.Snapshots); more > 0 {
		output.Say(t, "and %d older ones:", more)
		line(t, "kubectl etcd backup list --url "+quoted(terminal.Clean(g.URL))+g.flags) // in one piece, to be copied
	}
}

func (g Group) latest() string {
	if g.Latest {
		return ", whose first is what a restore of the latest takes"
	}
	return ""
}

// plain is what no shell takes for anything else.
var plain = regexp.MustCompile(`^[A-Za-z0-9:/._-]+$`)

// quoted is a word of a command as a shell reads it: whoever may edit an EtcdBackup chooses its URL, and a person copies the command.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// line writes what may be a stranger's.
func line(t *strings.Builder, words ...string) {
	t.WriteString(strings.TrimRight(terminal.Clean(strings.Join(words, "  ")), " ") + "\n")
}

// check is how a snapshot was verified, in a word: whole lines of a table fit on a terminal.
func check(s Snapshot) string {
	switch {
	case s.Stale:
		return "stale"
	case s.Verification == string(v1beta2.VerifyRestore):
		return "restored"
	case s.Verification == string(v1beta2.VerifyChecksum):
		return "checksum"
	case s.Verification == string(v1beta2.VerifyCiphertext):
		return "as sent"
	default:
		return "-"
	}
}

// checked is the same in a sentence.
func checked(verification string, stale bool) string {
	switch {
	case stale:
		return "stale: taken without a quorum"
	case verification == string(v1beta2.VerifyRestore):
		return "restored on trial"
	case verification == string(v1beta2.VerifyChecksum):
		return "its checksum compared"
	case verification == string(v1beta2.VerifyCiphertext):
		return "compared with what was uploaded"
	default:
		return "not verified"
	}
}
