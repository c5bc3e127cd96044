// Package damage flips bytes in the files of a stopped or running etcd member, as a failing disk does.
package damage
