package etcdcluster

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// contestInterval is how often a Certificate is put right that somebody else changes each time.
const contestInterval = 10 * time.Minute

// rewrites knows which Certificates the operator has put right, so that it does not write without end against somebody who changes them back.
// It is known to the process only. The zero value is ready to use.
type rewrites struct {
	mu   sync.Mutex
	last map[client.ObjectKey]rewrite
}

// rewrite is the last one of a Certificate.
type rewrite struct {
	uid  types.UID
	spec any
	at   time.Time
	// contested is true if the Certificate was changed again within contestInterval.
	contested bool
}

// of reports whether a Certificate with these fields of somebody else's is due to be put right now, and says so if somebody keeps on.
func (w *rewrites) of(have, want *unstructured.Unstructured, drift []string, now time.Time) (due bool, contest string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := client.ObjectKeyFromObject(want)
	last, found := w.last[key]
	if !found || last.uid != have.GetUID() || !reflect.DeepEqual(last.spec, want.Object["spec"]) {
		return true, ""
	}
	due = now.Sub(last.at) >= contestInterval
	if due && !last.contested {
		return true, ""
	}
	last.contested = true
	w.last[key] = last
	return due, fmt.Sprintf("somebody keeps changing %s of Certificate %s, which are the operator's: find out who (kubectl get certificate %s "+
		"--show-managed-fields -o yaml), and exempt it from the policy or tool that does", strings.Join(drift, ", "), want.GetName(), want.GetName())
}

// note remembers that a Certificate is put right.
func (w *rewrites) note(have, want *unstructured.Unstructured, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := client.ObjectKeyFromObject(want)
	if w.last == nil {
		w.last = map[client.ObjectKey]rewrite{}
	}
	contested := w.last[key].uid == have.GetUID() && w.last[key].contested && now.Sub(w.last[key].at) < 2*contestInterval
	w.last[key] = rewrite{uid: have.GetUID(), spec: want.Object["spec"], at: now, contested: contested}
}

// forget drops what is known of a cluster that is gone.
func (w *rewrites) forget(cluster types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, peer := range []bool{true, false} {
		delete(w.last, client.ObjectKey{Namespace: cluster.Namespace, Name: certificates.IssuedName(cluster.Name, peer)})
	}
}
