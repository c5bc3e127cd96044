// Package olm tells what users live through who install the operator by the Operator Lifecycle Manager: each test is one
// story on a real Kubernetes with a real OLM, in namespaces of its own. They need a running lab with the images of two
// versions of the operator in it; `make test-olm` sees to that. An operator that `make deploy` or other stories have left
// there is removed first, because two would act on the same clusters.
package olm
