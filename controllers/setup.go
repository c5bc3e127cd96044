package controllers

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/objectcache"
)

// Cached says which objects the controllers' cache is to hold, and what of them.
func Cached() map[client.Object]cache.ByObject { return objectcache.Cached() }
