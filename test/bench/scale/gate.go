package main

import (
	"io"
	"net"
	"sync"
)

// gate holds up whoever passes while it is frozen. The zero value is open.
type gate struct {
	mu sync.Mutex
	// shut is closed by thaw; nil while open.
	shut chan struct{}
}

func (g *gate) freeze() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

func (g *gate) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

func (g *gate) frozen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut != nil
}

func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

// doorman sends away who comes to an address where no one serves yet.
type doorman struct {
	net.Listener
	world *world
}

// Accept implements net.Listener.
func (d *doorman) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := d.world.at(c.LocalAddr())
		switch {
		case n == nil || !n.started():
			_ = c.Close() // no one was there to be told
		case n.gate.frozen():
			go ignore(c)
		default:
			return &gated{Conn: c, gate: &n.gate}, nil
		}
	}
}

// ignore never answers, until the other side gives up: what the kernel does for a process that does not run. A server
// that held on to such connections would run out of them.
func ignore(c net.Conn) {
	_, _ = io.Copy(io.Discard, c)
	_ = c.Close()
}

// gated is a connection to a process that can be stopped.
type gated struct {
	net.Conn
	gate *gate
}

// Read implements net.Conn.
func (g *gated) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.gate.pass()
	return n, err
}

// Write implements net.Conn.
func (g *gated) Write(b []byte) (int, error) {
	g.gate.pass()
	return g.Conn.Write(b)
}
