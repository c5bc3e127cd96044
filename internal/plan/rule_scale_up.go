package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

const (
	// maxLearners is the value of max-learners with which member-run starts etcd 3.6 and later.
	maxLearners = 8
	// batchDeadline is how long a candidate waits for others to be added together with it.
	batchDeadline = 10 * time.Second
	// learnerSyncShare is the share of the leader's log that a learner must have applied to be promoted; etcd requires the same
	// (readyPercentThreshold in its server).
	learnerSyncShare = 0.9
)

// targetSize returns the number of voters to have. A downgrade to a lower minor version needs three: members are restarted for
// it, one or two voters cannot spare any, and etcd accepts no new members meanwhile.
func (v *view) targetSize() int {
	if v.anyDowngrade(v.Versions.Target) {
		return max(v.Cluster.Size, 3)
	}
	return v.Cluster.Size
}

// maxMembers returns how many members there may be: one more than requested while a member is being replaced.
func (v *view) maxMembers() int {
	if v.replacing() {
		return v.TargetSize + 1
	}
	return v.TargetSize
}

// learnerLimit returns how many learners there may be at once. Every server applies its own limit as it applies the change, so
// different limits would split the membership: more than one learner is allowed only if all members are known to run 3.6 or
// later.
func (v *view) learnerLimit() int {
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if !ok && m.Published {
			return 1
		}
		if ok {
			version, err := semver.StrictNewVersion(a.Version)
			if err != nil || version.Major() == 3 && version.Minor() < 6 {
				return 1
			}
		}
	}
	return maxLearners
}

// addLearner adds candidates once their pods have addresses, so that the other members can resolve them at once, and adds a
// whole batch before any of them starts: a learner compares its member list with its peers' and exits if they differ.
func addLearner(v *view) Action {
	// One that was made from an older spec is about to be deleted: as a learner it would be removed again.
	candidates := slices.DeleteFunc(slices.Clone(v.Candidates), v.outdated)
	room := min(v.learnerLimit()-len(v.learners), v.MaxMembers-len(v.Etcd.Members))
	if len(candidates) == 0 || room <= 0 || !v.mayGrow() {
		return nil
	}
	for _, p := range candidates {
		if !p.readyToJoin() && v.Now.Sub(p.Created) < batchDeadline && len(candidates) <= room {
			return nil
		}
	}
	if v.batchOverdue() {
		return nil
	}
	for _, p := range candidates {
		if p.readyToJoin() {
			return AddLearner{Name: p.Name, PeerURL: v.joinURL(p.Name)}
		}
	}
	return nil
}

// joinURL is where the others are to connect to a new member: in the middle of a switch by the scheme that is proven to connect them. Of
// all voters only the one that was listed by the other scheme last may be out of reach there (see announcement): so it is the scheme of most of
// them, and of two that is listed where the others have connected. Once the member votes, its URL is changed like theirs.
func (v *view) joinURL(name string) string {
	t := v.Cluster.Transport
	told, proven := 0, false
	for _, m := range v.voters {
		if t.PeerURLAt(m.PeerURL) == m.PeerURL {
			told, proven = told+1, proven || slices.Contains(v.Etcd.Reached, m.Name)
		}
	}
	if former := len(v.voters) - told; t.PeerBoth && (told < former || told == former && !proven) {
		t = t.OtherPeers()
	}
	return member.PeerURL(v.Cluster.Host(name), t)
}

// mayGrow reports whether etcd accepts another member. It counts the new one as a voter that is down, and refuses it unless the
// voters that are up are a quorum even so; a single voter is exempt (mayAddMember in its server). What brings the missing voters
// back may come later in the list: to ask again and again would keep that from its turn.
func (v *view) mayGrow() bool {
	up := 0
	for _, m := range v.voters {
		if a, ok := v.answer(m); ok && a.Leader != 0 {
			up++
		}
	}
	n := len(v.voters)
	return n == 1 || up >= Quorum(n+1)
}

// batchOverdue reports whether a learner that was added has waited long enough for the rest of its batch.
func (v *view) batchOverdue() bool {
	for _, m := range v.learners {
		p, ok := v.pods[m.Name]
		if ok && !m.Published && p.Permit == nil && v.Now.Sub(p.Created) > 2*batchDeadline {
			return true
		}
	}
	return false
}

// permitLearners permits listed learners to start. The permit is rewritten if the member list changes before the learner has
// started. Another one follows only once member-run has refused this very permit as used: with a spare permit on its pod, a
// member that has started since could start once more with an empty data directory.
func permitLearners(v *view) Action {
	cluster := initialCluster(v.listedURLs())
	var permits []PodPermit
	for _, m := range v.learners {
		p, ok := v.pods[m.Name]
		_, runs := v.answer(m)
		if !ok || m.Published || runs || p.Deleting || p.Exit == ExitForeignData {
			continue
		}
		next := member.Permit{
			Mode: member.ModeJoin, ClusterID: member.ID(v.Etcd.ClusterID), MemberID: member.ID(m.ID),
			InitialCluster: cluster, Token: v.Cluster.UID, PodUID: p.UID, Attempt: 1,
		}
		if old := p.Permit; old != nil {
			if old.Mode == member.ModeResume {
				continue // its volume has been another pod's, in which it may have started
			}
			used := p.Exit == ExitDataLost && p.RefusedAttempt == old.Attempt
			if old.MemberID == next.MemberID && old.InitialCluster == cluster && !used {
				continue
			}
			if next.Attempt = old.Attempt; used {
				next.Attempt++
			}
		}
		permits = append(permits, PodPermit{Pod: p.Name, UID: p.UID, Permit: next})
	}
	if len(permits) == 0 {
		return nil
	}
	return WritePermits{Permits: permits}
}

func (v *view) listedURLs() map[string]string {
	urls := map[string]string{}
	for _, m := range v.Etcd.Members {
		urls[m.Name] = m.PeerURL
	}
	return urls
}

// initialCluster formats etcd's --initial-cluster: a list of name=url.
func initialCluster(urls map[string]string) string {
	var pairs []string
	for name, url := range urls {
		pairs = append(pairs, name+"="+url)
	}
	slices.SortFunc(pairs, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return CompareNames(a, b)
	})
	return strings.Join(pairs, ",")
}

// cancelDowngrade cancels etcd's downgrade if the spec no longer asks for it, and also for as long as members have to join:
// while a downgrade is enabled, etcd rejects every new member as incompatible, whatever its version (allowedVersionRange in its
// server).
func cancelDowngrade(v *view) Action {
	told, target := v.downgradeTarget(), v.Versions.Target
	if told == "" {
		return nil
	}
	joining := len(v.Etcd.Members) < v.TargetSize || len(v.learners) > 0
	unwanted := target != "" && version.Minor(target) != told && !v.Versions.SnapshotsFirst
	if joining || unwanted {
		return CancelDowngrade{Version: told}
	}
	return nil
}
