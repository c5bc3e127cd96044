package failure

import "fmt"

// Mebibytes is a size in bytes, as a spec takes it: in Mi, such as "100Mi", rounded up, so that what a message asks for is enough.
func Mebibytes(n int64) string {
	const mebi = 1 << 20
	whole := n / mebi
	if n%mebi > 0 {
		whole++
	}
	return fmt.Sprintf("%dMi", whole)
}
