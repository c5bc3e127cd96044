// Package embedtest runs real etcd servers in the test's own process, on the loopback interface. They run with short
// election time-outs and without fsync: fast, and fit for nothing but tests.
package embedtest
