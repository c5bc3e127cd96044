// Package resizer lets volumes grow, in the place of the controller that a storage driver brings along. The lab's
// volumes are folders without a limit: all that grows is what Kubernetes says of them.
package resizer
