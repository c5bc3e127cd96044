// Package backup decides what an EtcdBackup needs next. Like its parent it is pure: what was observed goes in, one action
// comes out, and whoever carries it out looks again.
//
// A run is written down in status before its pod is made (Start), so a restart of the operator neither skips nor doubles
// it: the run is named after the time that it was due at, and each try of it has a pod of its own name.
package backup
