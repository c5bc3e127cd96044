// Package cgroup creates, kills and removes the lab's control groups, on hosts with cgroup v1, v2 or both.
package cgroup
