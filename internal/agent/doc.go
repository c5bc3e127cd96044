// Package agent does what an EtcdBackup or an EtcdRestore asks for, in a short-lived pod of the operator's image: it moves
// the data, so that the operator holds neither data nor credentials of a storage.
//
// A pod has one Task, as JSON in its environment, and its Secrets as files. It tells how far it is over HTTP while it runs,
// and how it ended by a Result in its termination message. It never talks to the Kubernetes API.
package agent
