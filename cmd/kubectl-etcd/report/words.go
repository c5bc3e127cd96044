package report

// Clean takes out what a terminal would obey.
func Clean(words string) string { return clean(words) }

// Size is a number of bytes as Kubernetes writes it, rounded; a dash for 0.
func Size(bytes int64) string { return size(bytes) }
