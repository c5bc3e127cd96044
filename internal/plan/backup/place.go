package backup

import (
	"net/url"
	"path"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Place is where the objects of an EtcdBackup are.
type Place struct {
	// store is the service and the bucket, or the claim.
	store string
	// prefix is what the names of the objects in it begin with.
	prefix string
}

// PlaceOf is the place of a storage, as an EtcdBackup of that namespace sees it. The object is what names begin with below
// the URL, if it is given in coreos/etcd-operator's stanza.
func PlaceOf(namespace string, s v1beta2.Storage, object string) Place {
	u, err := url.Parse(s.URL)
	if err != nil {
		return Place{store: s.URL}
	}
	folder := strings.TrimPrefix(path.Clean("/"+u.Path)+"/", "/")
	if folder == "/" {
		folder = ""
	}
	p := Place{store: u.Scheme + "://" + u.Host + " " + normal(s.Endpoint), prefix: folder + object}
	if s.PersistentVolumeClaim != "" {
		p.store = "claim " + namespace + "/" + s.PersistentVolumeClaim
	}
	return p
}

// Overlaps tells whether an object can be in both places.
func (p Place) Overlaps(q Place) bool {
	return p.store == q.store && (strings.HasPrefix(p.prefix, q.prefix) || strings.HasPrefix(q.prefix, p.prefix))
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
