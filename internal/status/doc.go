// Package status computes the status of an object from an observation and the action planned for it. It is pure.
package status
