package rights

// Excuse is a right that the stories which gate a change need not use.
type Excuse struct {
	// Right is as Grant.String has it, without the namespace.
	Right string
	// Because says which test or situation uses it.
	Because string
}

func (e Excuse) of(g Grant) bool {
	g.Namespace = ""
	return g.String() == e.Right
}

// Excused are the rights of the operator that `make test-lab` need not use.
func Excused() []Excuse {
	const (
		owner = "no request of the operator: admission control asks for it where the plugin OwnerReferencesPermissionEnforcement is on, " +
			"as on OpenShift, because the operator makes objects that block the deletion of their owner"
		streamed = "API servers of 1.33, as they come, do not stream a list in the beginning of a watch, and where streaming fails, after an " +
			"outage, informers list (TestRefusedLater)"
		guarded = "TestNetworkPolicies, of make test-security"
		named   = "TestUsers, of make test-security"
		issued  = "TestCertManager, of make test-security"
		scraped = "TestPrometheus, of make test-observability: the kinds exist only with Prometheus Operator"
		byHand  = "an object of Prometheus Operator is changed by hand, or not wanted any more: TestMonitoring"
	)
	return []Excuse{
		{"update etcdclusters/finalizers.etcd.database.coreos.com", owner},
		{"update etcdbackups/finalizers.etcd.database.coreos.com", owner},
		{"update etcdrestores/finalizers.etcd.database.coreos.com", owner},
		{"list services", streamed},
		{"list poddisruptionbudgets.policy", streamed},
		{"list etcdclusters.etcd.database.coreos.com", streamed},
		{"list etcdbackups.etcd.database.coreos.com", streamed},
		{"patch networkpolicies.networking.k8s.io", guarded},
		{"delete networkpolicies.networking.k8s.io", guarded},
		{
			"get leases.coordination.k8s.io etcd-operator.etcd.database.coreos.com",
			"there is a second operator: TestFaults/operator/beside, of make test-faults, and TestTwoOperators",
		},
		{"create leases.coordination.k8s.io", "the first start of an operator in a namespace, which was before if the lab was not started anew"},
		{"update etcdusers/finalizers.etcd.database.coreos.com", owner},
		{"update etcdroles/finalizers.etcd.database.coreos.com", owner},
		{"get etcdusers.etcd.database.coreos.com", named},
		{"list etcdusers.etcd.database.coreos.com", named},
		{"patch etcdusers.etcd.database.coreos.com", named},
		{"update etcdusers/status.etcd.database.coreos.com", named},
		{"get etcdroles.etcd.database.coreos.com", named},
		{"list etcdroles.etcd.database.coreos.com", named},
		{"patch etcdroles.etcd.database.coreos.com", named},
		{"update etcdroles/status.etcd.database.coreos.com", named},
		{"get certificates.cert-manager.io", issued},
		{"create certificates.cert-manager.io", issued},
		{"patch certificates.cert-manager.io", issued},
		{"list certificaterequests.cert-manager.io", issued},
		{"list podmonitors.monitoring.coreos.com", scraped},
		{"get podmonitors.monitoring.coreos.com", scraped},
		{"create podmonitors.monitoring.coreos.com", scraped},
		{"patch podmonitors.monitoring.coreos.com", byHand},
		{"delete podmonitors.monitoring.coreos.com", byHand},
		{"list prometheusrules.monitoring.coreos.com", scraped},
		{"get prometheusrules.monitoring.coreos.com", scraped},
		{"create prometheusrules.monitoring.coreos.com", scraped},
		{"patch prometheusrules.monitoring.coreos.com", scraped},
		{"delete prometheusrules.monitoring.coreos.com", byHand},
		{"patch events.events.k8s.io", "an event is repeated within six minutes, which no story waits for"},
		{"patch services", "spec.services is edited, or a Service by hand: TestEtcdClusterOnARealAPIServer/Services"},
		{"get persistentvolumeclaims", "somebody takes the labels off a claim: TestKeptClaimWithoutLabels, TestClaimWithoutLabels"},
		{"patch etcdbackups.etcd.database.coreos.com", "an EtcdBackup has deletionPolicy Delete: TestTwoOperators"},
	}
}
