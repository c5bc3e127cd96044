// Package access decides how a user or a role in etcd becomes what an EtcdUser or EtcdRole asks for. It is pure: it sees what etcd has,
// and returns requests in an order.
//
// The order keeps two promises about one object's change, after every single request. Nobody has a right that neither the old state
// nor the new one gives. And nobody lacks a right that both give. The exception is a user that is deleted and created again, because
// etcd has no other way to give it a password, or to take it away. Two objects are two changes, in no order.
package access
