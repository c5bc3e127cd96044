// Package status turns an observation and the action planned for it into the status of an EtcdCluster. It is pure.
package status
