package main

import (
	"fmt"
	"slices"
	"time"
)

// report has the runs of each workload, without TLS and with it.
type report struct {
	options options
	names   []string
	runs    map[string][2][]measured
}

func (r *report) add(name string, secure bool, m measured) {
	if r.runs == nil {
		r.runs = map[string][2][]measured{}
	}
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	both, which := r.runs[name], 0
	if secure {
		which = 1
	}
	both[which] = append(both[which], m)
	r.runs[name] = both
}

// print writes the table as markdown.
func (r *report) print() {
	fmt.Printf("\n%d clients, values of %d bytes, %d runs of %s: medians, and ranges in brackets\n\n"+
		"| | | operations/s | one, median, ms | one, 99th percentile, ms | members' processor, µs each |\n| --- | --- | --- | --- | --- | --- |\n",
		r.options.clients, valueSize, r.options.runs, r.options.duration)
	for _, name := range r.names {
		for which, what := range []string{"plain text", "TLS"} {
			runs := r.runs[name][which]
			fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", name, what,
				spread("%.0f", runs, func(m measured) float64 { return m.perSecond }),
				spread("%.2f", runs, func(m measured) float64 { return milli(m.median) }),
				spread("%.2f", runs, func(m measured) float64 { return milli(m.p99) }),
				spread("%.0f", runs, func(m measured) float64 { return 1000 * milli(m.cpu) }))
		}
	}
}

func milli(d time.Duration) float64 { return d.Seconds() * 1000 }

// spread is the median with the range.
func spread(format string, runs []measured, of func(measured) float64) string {
	var all []float64
	for _, m := range runs {
		all = append(all, of(m))
	}
	slices.Sort(all)
	return fmt.Sprintf(format+" ("+format+"–"+format+")", all[len(all)/2], all[0], all[len(all)-1])
}
