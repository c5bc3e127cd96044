package backup

import (
	"net/url"
	"path"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// lockLimit is how long a run may keep others waiting, whatever its time-out: no upload that makes headway takes so long.
// Should two write the same object then, one of them has it in the end, whole.
const lockLimit = 6 * time.Hour

// Place is where the objects of an EtcdBackup are, if others may write the same ones.
type Place struct {
	// store is the service and the bucket, or the claim; empty if nobody else writes the same objects.
	store string
	// prefix is what the names of the objects in it begin with.
	prefix string
}

// PlaceOf is the place of a storage, as the EtcdBackups of a namespace see it. The object is what names begin with below the
// URL, if it is given in coreos/etcd-operator's stanza.
//
// This operator's own names have the tag of who writes them, so that in a bucket nobody waits for anybody. A volume is often
// for one node at a time.
func PlaceOf(s v1beta2.Storage, object string) Place {
	u, err := url.Parse(s.URL)
	if err != nil || s.PersistentVolumeClaim == "" && object == "" {
		return Place{}
	}
	folder := strings.TrimPrefix(path.Clean("/"+u.Path)+"/", "/")
	if folder == "/" {
		folder = ""
	}
	p := Place{store: u.Scheme + "://" + u.Host + " " + normal(s.Endpoint), prefix: folder + object}
	if s.PersistentVolumeClaim != "" {
		p.store = "claim " + s.PersistentVolumeClaim
	}
	return p
}

// Shared reports whether others may write the same objects.
func (p Place) Shared() bool { return p.store != "" }

// Overlaps reports whether an object can be written in both places.
func (p Place) Overlaps(q Place) bool {
	return p.Shared() && p.store == q.store && (strings.HasPrefix(p.prefix, q.prefix) || strings.HasPrefix(q.prefix, p.prefix))
}

// Holds reports whether the run, nil if there is none, keeps others from its place. One that waits for its next try does not.
func (r *Run) Holds(now time.Time) bool {
	return r != nil && r.RetryAfter.IsZero() && now.Sub(r.Started) < lockLimit
}

// normal is one way to write an endpoint of which there are several.
func normal(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return endpoint
	}
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return u.Scheme + "://" + host
}
