package controlplane

import (
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Server is the address of the Kubernetes API.
const Server = "https://" + network.HostIP + ":6443"

// Where the cluster's own etcd listens: the loopback interface, beside the ports that users' etcds use.
const (
	etcdClient = "http://127.0.0.1:12379"
	etcdPeer   = "http://127.0.0.1:12380"
)

// Names of the components, and of the certificates that they have.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

func etcdArgs(dataDir string) []string {
	return []string{
		"--data-dir=" + dataDir,
		"--listen-client-urls=" + etcdClient,
		"--advertise-client-urls=" + etcdClient,
		"--listen-peer-urls=" + etcdPeer,
		"--initial-advertise-peer-urls=" + etcdPeer,
		"--initial-cluster=default=" + etcdPeer,
		// The lab's own state may die with the machine, and must not slow the disk that the etcds under test use.
		"--unsafe-no-fsync",
	}
}

func apiserverArgs(certs *pki.Authority) []string {
	return []string{
		"--etcd-servers=" + etcdClient,
		"--bind-address=" + network.HostIP,
		"--advertise-address=" + network.HostIP,
		"--secure-port=6443",
		"--client-ca-file=" + certs.Cert("ca"),
		"--tls-cert-file=" + certs.Cert(APIServer),
		"--tls-private-key-file=" + certs.Key(APIServer),
		"--kubelet-certificate-authority=" + certs.Cert("ca"),
		"--kubelet-client-certificate=" + certs.Cert("kubelet-client"),
		"--kubelet-client-key=" + certs.Key("kubelet-client"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + certs.PublicKey("service-account"),
		"--service-account-signing-key-file=" + certs.Key("service-account"),
		"--service-cluster-ip-range=" + network.ServiceCIDR,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--requestheader-client-ca-file=" + certs.Cert("ca"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + certs.Cert("front-proxy-client"),
		"--proxy-client-key-file=" + certs.Key("front-proxy-client"),
		// The host has no Service addresses: aggregated APIs and webhooks are reached at their pods.
		"--enable-aggregator-routing=true",
	}
}

func controllerManagerArgs(dir state.Dir, certs *pki.Authority) []string {
	kubeconfig := Kubeconfig(dir, ControllerManager)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		// The lab gives each node its pods' range itself: the routes are made before the node is known here.
		"--allocate-node-cidrs=false",
		"--service-cluster-ip-range=" + network.ServiceCIDR,
		"--root-ca-file=" + certs.Cert("ca"),
		"--service-account-private-key-file=" + certs.Key("service-account"),
		"--cluster-signing-cert-file=" + certs.Cert("ca"),
		"--cluster-signing-key-file=" + certs.Key("ca"),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		// A lost node is noticed after 16 s instead of 50 s: four of the kubelet's heartbeats.
		"--node-monitor-grace-period=16s",
		"--node-monitor-period=2s",
		// It makes the folder, and would make it in /usr.
		"--flex-volume-plugin-dir=" + dir.Join("volumeplugins"),
	}
}

func schedulerArgs(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
	}
}
