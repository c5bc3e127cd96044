package main

import (
	"log"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// link is a connection that goes where its folder says, with or without TLS: what is written there changes while the client runs. It is for
// one goroutine.
type link struct {
	target
	client *clientv3.Client
}

// newLink connects to the endpoints until the folder names others.
func newLink(to target) (*link, error) {
	client, err := to.connect()
	return &link{to, client}, err
}

// current is the connection for the next operation. The former one is closed: no operation is under way.
func (l *link) current() *clientv3.Client {
	text, err := os.ReadFile(filepath.Join(l.folder, "endpoints"))
	if l.folder == "" || err != nil || len(text) == 0 || string(text) == l.endpoints {
		return l.client
	}
	to := l.target
	to.endpoints = string(text)
	next, err := to.connect()
	if err != nil {
		log.Print(err)
		return l.client
	}
	log.Printf("from %s to %s", l.endpoints, text)
	l.close()
	l.client, l.target = next, to
	return l.client
}

func (l *link) close() {
	if err := l.client.Close(); err != nil {
		log.Print(err)
	}
}
