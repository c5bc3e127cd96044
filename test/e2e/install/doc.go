// Package install tells what users live through who install a release, and later the next one: each test is one way to do so, on a real
// Kubernetes, from the files of a release and from the lab's registry, by the commands of the documents. `make test-install` makes both
// releases; `make test-upgrade` has the operator of an earlier commit in the place of the first one, and that of the tree in the place of the
// second. Every story begins and ends without an operator and its CRDs, so with no object of its kinds on the lab.
package install
