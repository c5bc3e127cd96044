package etcdcluster_test

import (
	"net"
	"sync"
)

// door is a listener that can be shut, as if its server were not there.
type door struct {
	net.Listener
	mu     sync.Mutex
	shut   bool
	inside []net.Conn
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if d.admit(c) {
			return c, nil
		}
		_ = c.Close()
	}
}

func (d *door) admit(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.shut {
		d.inside = append(d.inside, c)
	}
	return !d.shut
}

// set shuts or opens it. Whoever is inside has to go.
func (d *door) set(shut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = shut
	for _, c := range d.inside {
		_ = c.Close()
	}
	d.inside = nil
}
