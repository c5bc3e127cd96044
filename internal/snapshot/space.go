package snapshot

// space is that of a disk, in bytes.
type space struct {
	total int64
	// free is what is left for those who are not root.
	free int64
}
