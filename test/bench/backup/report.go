package main

import (
	"fmt"
	"slices"
	"time"
)

// Rows of etcd's own tools.
const (
	plainBackup  = "etcdctl snapshot save"
	plainRestore = "etcdutl snapshot restore"
)

// report is what is printed, as Markdown: tables of each size as soon as it is measured, and one of all at the end.
type report struct{ tables []*table }

// table is what was measured with one size.
type table struct {
	size              int64
	backups, restores rows[moved]
	pauses            rows[pause]
	slow              rows[grown]
}

// moved is what it took to move so many bytes, counted before compression.
type moved struct {
	cost
	bytes int64
}

// speed is in MiB/s.
func (m moved) speed() float64 { return float64(m.bytes) / (1 << 20) / m.took.Seconds() }

// rows are runs by name, in the order in which the names first came.
type rows[T any] struct {
	names []string
	runs  map[string][]T
}

func (r *rows[T]) add(name string, run T) {
	if r.runs == nil {
		r.runs = map[string][]T{}
	}
	if r.runs[name] == nil {
		r.names = append(r.names, name)
	}
	r.runs[name] = append(r.runs[name], run)
}

func (r *report) add(size int64) *table {
	t := &table{size: size}
	r.tables = append(r.tables, t)
	return t
}

func (t *table) print() {
	fmt.Printf("\n### %s\n", sizeName(t.size))
	printMoved("backup", plainBackup, t.backups)
	printMoved("restore", plainRestore, t.restores)
	fmt.Print("\n| a client that writes every 10 ms, beside | longest gap, median | worst | time of a write, median " +
		"| runs |\n| --- | --- | --- | --- | --- |\n")
	for _, name := range t.pauses.names {
		runs := t.pauses.runs[name]
		longest := sorted(runs, func(p pause) time.Duration { return p.longest })
		took := sorted(runs, func(p pause) time.Duration { return p.median })
		fmt.Printf("| %s | %.1f ms | %.1f ms | %.2f ms | %d |\n", name, milliseconds(middle(longest)),
			milliseconds(longest[len(longest)-1]), milliseconds(middle(took)), len(runs))
	}
	t.printSlow()
}

func (t *table) printSlow() {
	fmt.Print("\n| a client that overwrites 0.8 MB/s, beside | took | etcd's file grew by | longest gap " +
		"| time of a write, median |\n| --- | --- | --- | --- | --- |\n")
	for _, name := range t.slow.names {
		for _, g := range t.slow.runs[name] {
			fmt.Printf("| %s | %.1f s | %.1f MiB | %.1f ms | %.2f ms |\n", name, g.took.Seconds(), float64(g.bytes)/(1<<20),
				milliseconds(g.longest), milliseconds(g.median))
		}
	}
}

func printMoved(title, plain string, all rows[moved]) {
	fmt.Printf("\n| %s | MiB/s, median | range | of etcd's own | processor | peak memory | of it anonymous | runs |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n", title)
	for _, name := range all.names {
		runs := all.runs[name]
		speeds := sorted(runs, moved.speed)
		processor := sorted(runs, func(m moved) time.Duration { return m.cpu })
		most := mostMemory(runs)
		fmt.Printf("| %s | %.0f | %.0f–%.0f | %.2f | %.1f s | %d MiB | %d MiB | %d |\n", name, middle(speeds),
			speeds[0], speeds[len(speeds)-1], middle(speeds)/middle(sorted(all.runs[plain], moved.speed)),
			middle(processor).Seconds(), most.peak>>20, most.anonymous>>20, len(runs))
	}
}

// printMemory shows whether memory depends on the size.
func (r *report) printMemory() {
	if len(r.tables) == 0 {
		return
	}
	fmt.Printf("\n### Peak memory, of it anonymous\n\n| |")
	for _, t := range r.tables {
		fmt.Printf(" %s |", sizeName(t.size))
	}
	fmt.Print("\n| --- |")
	for range r.tables {
		fmt.Print(" --- |")
	}
	fmt.Println()
	r.printPeaks(func(t *table) rows[moved] { return t.backups })
	r.printPeaks(func(t *table) rows[moved] { return t.restores })
}

func (r *report) printPeaks(of func(*table) rows[moved]) {
	for _, name := range of(r.tables[0]).names {
		fmt.Printf("| %s |", name)
		for _, t := range r.tables {
			most := mostMemory(of(t).runs[name])
			fmt.Printf(" %d, %d MiB |", most.peak>>20, most.anonymous>>20)
		}
		fmt.Println()
	}
}

// mostMemory is that of all runs.
func mostMemory(runs []moved) (most memory) {
	for _, m := range runs {
		most = most.or(m.memory)
	}
	return most
}

func sorted[T any, N int64 | float64 | time.Duration](runs []T, of func(T) N) []N {
	all := make([]N, len(runs))
	for i, run := range runs {
		all[i] = of(run)
	}
	slices.Sort(all)
	return all
}

func middle[N any](sorted []N) N { return sorted[len(sorted)/2] }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sizeName is a size for people.
func sizeName(size int64) string { return fmt.Sprintf("%.3g GiB", float64(size)/gib) }
