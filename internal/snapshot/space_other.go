//go:build !linux && !darwin

package snapshot

import "errors"

// spaceOf is for agents, which run on Linux. Elsewhere this package only lists what they have written.
func spaceOf(string) (space, error) { return space{}, errors.ErrUnsupported }
