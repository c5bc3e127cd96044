package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// diskBytes holds two of etcd's write-ahead logs of 64 MB each and some data.
	diskBytes = 300 << 20
	// spare is how many disks a node has for new members.
	spare = 3
)

// supply sees to it that every node has disks for members to come, where members have disks: what one has left is not given to
// another one. Disks of a run that failed are still there, so each has a name of its time.
func (r *round) supply(ctx context.Context) error {
	if r.chosen.Storage != soak.Disks {
		return nil
	}
	volumes, now := &corev1.PersistentVolumeList{}, time.Now().Unix()
	if err := r.bench.List(ctx, volumes); err != nil {
		return err
	}
	for _, node := range r.lab.Nodes() {
		for n := free(volumes, node); n < spare; n++ {
			disk := fmt.Sprintf("%s/soak-%x-%d", node, now, n)
			if err := r.lab.Disks().Create(ctx, disk, diskBytes); err != nil {
				return err
			}
			r.disks = append(r.disks, disk)
		}
	}
	return nil
}

// free counts the node's disks that no claim has.
func free(volumes *corev1.PersistentVolumeList, node string) (n int) {
	for _, v := range volumes.Items {
		if v.Spec.StorageClassName == lab.DiskClass && v.Spec.ClaimRef == nil && strings.HasPrefix(v.Name, node+"-") {
			n++
		}
	}
	return n
}
