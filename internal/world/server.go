package world

import "github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"

// server is a running etcd, what it works on and whose it is. The member is nil if it is listed no more.
type server struct {
	disk   *etcdtest.Disk
	group  *etcdtest.Group
	member *etcdtest.Member
}

// server is the etcd that runs in the pod, if one does.
func (w *World) server(p *Pod) (server, bool) {
	d := w.disk(p)
	if d == nil || !d.Running {
		return server{}, false
	}
	g := w.Etcd.Group(d.ClusterID)
	return server{d, g, g.Member(d.MemberID)}, true
}
