package member

import "fmt"

// Host is the DNS name of a member: of its pod's hostname and subdomain. The domain is what the cluster's DNS appends,
// for example ".cluster.local"; usually empty.
func Host(name, cluster, namespace, domain string) string {
	return fmt.Sprintf("%s.%s.%s.svc%s", name, cluster, namespace, domain)
}

// ClientService is the name of the Service by which clients reach a cluster: it is made, and stands in the members' certificates.
func ClientService(cluster string) string { return cluster + "-client" }
