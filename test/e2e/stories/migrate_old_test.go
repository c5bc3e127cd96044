package stories

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// oldVersion is of the minor release that most of those run who migrate.
const oldVersion = "3.5.35"

// oldEtcd is an etcd as people run one by themselves.
const oldEtcd = `
apiVersion: v1
kind: Service
metadata: {name: old}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app: old}
  ports: [{name: client, port: 2379}, {name: peer, port: 2380}]
---
apiVersion: v1
kind: Service
metadata: {name: old-client}
spec:
  selector: {app: old}
  ports: [{name: client, port: 2379}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: old}
spec:
  serviceName: old
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: old}}
  template:
    metadata: {labels: {app: old}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: etcd
        image: quay.io/coreos/etcd:vVERSION
        command: [etcd]
        args:
        - --name=$(POD)
        - --data-dir=/data/etcd
        - --listen-client-urls=http://0.0.0.0:2379
        - --listen-peer-urls=http://0.0.0.0:2380
        - --listen-metrics-urls=http://0.0.0.0:2381
        - --advertise-client-urls=http://$(POD).old:2379
        - --initial-advertise-peer-urls=http://$(POD).old:2380
        - --initial-cluster=old-0=http://old-0.old:2380,old-1=http://old-1.old:2380,old-2=http://old-2.old:2380
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        readinessProbe: {httpGet: {path: /readyz, port: 2381}, periodSeconds: 1}
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// oldApp is an application that uses it.
const oldApp = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: client
        image: CLIENT
        args: [--endpoints, "http://old-client:2379"]
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// connectOld connects to the old etcd, by the addresses of its pods. The caller closes the client.
func (m *migration) connectOld() *clientv3.Client {
	m.t.Helper()
	pods := &corev1.PodList{}
	must(m.t, env.List(m.t.Context(), pods, client.InNamespace(m.Namespace), client.MatchingLabels{"app": "old"}))
	var endpoints []string
	for _, p := range pods.Items {
		endpoints = append(endpoints, net.JoinHostPort(p.Status.PodIP, "2379"))
	}
	config := clientv3.Config{
		Endpoints: endpoints, TLS: m.tls, DialOptions: harness.DialOptions(m.tls), DialTimeout: time.Second, Logger: zap.NewNop(),
	}
	if m.password != "" { // which etcd takes its time to check
		config.Username, config.Password, config.DialTimeout = "root", m.password, time.Minute
	}
	etcd, err := clientv3.New(config)
	must(m.t, err)
	return etcd
}

func (m *migration) askOld(question func(context.Context, *clientv3.Client) error) {
	m.t.Helper()
	etcd := m.connectOld()
	defer func() { _ = etcd.Close() }()
	ctx, cancel := context.WithTimeout(m.t.Context(), limit)
	defer cancel()
	must(m.t, question(ctx, etcd))
}

// fills writes so many keys, and notes them: 100 at a time, fewer than etcd takes.
func (m *migration) fills(n int) {
	m.t.Helper()
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("filled/%05d", i))
	}
	m.askOld(func(ctx context.Context, etcd *clientv3.Client) error {
		for some := range slices.Chunk(keys, 100) {
			var puts []clientv3.Op
			for _, key := range some {
				puts = append(puts, clientv3.OpPut(key, "value of "+key))
			}
			if _, err := etcd.Txn(ctx).Then(puts...).Commit(); err != nil {
				return err
			}
			for _, key := range some {
				m.acknowledged[key] = "value of " + key
			}
		}
		return nil
	})
}

// writes writes to the old etcd all the while, and notes what is acknowledged, until it is stopped. A write that was not acknowledged may be
// there, too.
func (m *migration) writes(prefix string) (stop func()) {
	m.t.Helper()
	etcd := m.connectOld()
	ctx, cancel := context.WithCancel(m.t.Context())
	noted := map[string]string{}
	put := func(i int) {
		key, value := fmt.Sprintf("%s/%06d", prefix, i), time.Now().String()
		if _, err := etcd.Put(ctx, key, value); err == nil {
			noted[key] = value
		}
	}
	put(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		every := time.NewTicker(10 * time.Millisecond)
		defer every.Stop()
		for i := 1; ctx.Err() == nil; i++ {
			put(i)
			<-every.C
		}
		_ = etcd.Close()
	}()
	return func() {
		m.t.Helper()
		cancel()
		<-done
		if len(noted) == 0 {
			m.t.Fatal("the writer has written nothing")
		}
		m.t.Logf("%s: the writer had %d writes acknowledged", prefix, len(noted))
		maps.Copy(m.acknowledged, noted)
	}
}

// contents are all keys of an etcd, in order, at one revision.
type contents struct {
	revision int64
	keys     []*mvccpb.KeyValue
}

func (m *migration) readOld() (all contents) {
	m.t.Helper()
	m.askOld(all.from)
	return all
}

// read reads the new cluster.
func (m *migration) read() (all contents) {
	m.t.Helper()
	if m.password == "" {
		m.asks(all.from)
	} else {
		must(m.t, m.AskWithPassword(m.t.Context(), "root", m.password, all.from))
	}
	return all
}

func (c *contents) from(ctx context.Context, etcd *clientv3.Client) error {
	answer, err := etcd.Get(ctx, "\x00", clientv3.WithFromKey())
	if err == nil {
		c.revision, c.keys = answer.Header.Revision, answer.Kvs
	}
	return err
}

// sameKeys checks that nothing of any key differs.
func (m *migration) sameKeys(who string, want, got contents) {
	m.t.Helper()
	if len(want.keys) != len(got.keys) {
		m.t.Errorf("%s %d keys, want %d", who, len(got.keys), len(want.keys))
		return
	}
	for i, k := range want.keys {
		if is := got.keys[i]; is.String() != k.String() {
			m.t.Errorf("%s %s, want %s", who, is, k)
			return
		}
	}
}

// hasAcknowledged checks that the new cluster has every key that the old etcd has acknowledged.
func (m *migration) hasAcknowledged() {
	m.t.Helper()
	there := map[string]string{}
	for _, k := range m.read().keys {
		there[string(k.Key)] = string(k.Value)
	}
	missing := 0
	for key, value := range m.acknowledged {
		if is, found := there[key]; !found || is != value {
			missing++
		}
	}
	if missing > 0 {
		m.t.Errorf("of %d keys that the old etcd has acknowledged %d are missing or others", len(m.acknowledged), missing)
	}
}

// app is the application, in whichever pod.
func (m *migration) app(ctx context.Context) (*harness.Writer, error) {
	pods := &corev1.PodList{}
	if err := env.List(ctx, pods, client.InNamespace(m.Namespace), client.MatchingLabels{"app": "app"}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 {
		return nil, fmt.Errorf("the application has %d pods", len(pods.Items))
	}
	return harness.WriterIn(m.Cluster, pods.Items[0].Name), nil
}

// works waits until the application works, and checks that it has lost nothing.
func (m *migration) works(when string) {
	m.t.Helper()
	must(m.t, harness.Await(m.t.Context(), "the application works "+when, limit, func(ctx context.Context) (string, bool) {
		app, err := m.app(ctx)
		if err != nil {
			return err.Error(), false
		}
		r, err := app.Peek(ctx)
		if r.Lost > 0 {
			m.t.Fatalf("%s: %s", when, r)
		}
		return fmt.Sprintf("%v, %v", r, err), err == nil && r.Operations > r.Failures
	}))
}

// serves waits until the application works, and checks that it writes to one etcd and not to the other.
func (m *migration) serves(when string, one, other func() contents) {
	m.t.Helper()
	m.works(when)
	begun, still := one().revision, other().revision
	must(m.t, harness.Await(m.t.Context(), "the application writes "+when, limit, func(context.Context) (string, bool) {
		at := one().revision
		return fmt.Sprintf("from revision %d to %d", begun, at), at > begun+100
	}))
	if at := other().revision; at != still {
		m.t.Errorf("%s: the other etcd was at revision %d, and is at %d", when, still, at)
	}
}
