// Package stories tells what users live through, on a real Kubernetes with real etcd: each test is one story with a
// namespace of its own. They need a running lab with the operator's image in it; `make test-lab` sees to that.
//
// Stories that touch nothing but their own cluster are parallel: go test tells them once all sequential ones are over, as many at a
// time as its -parallel says. Those of TestFaults that harm nothing but their own cluster are told so at the end of TestFaults.
package stories
