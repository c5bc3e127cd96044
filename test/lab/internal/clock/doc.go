// Package clock moves the machine's clock, and puts it back to where it would be.
package clock
