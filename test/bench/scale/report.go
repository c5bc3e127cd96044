package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/test/bench/meter"
)

// creation is how clusters came up that were all created at once.
type creation struct {
	clusters int
	all      time.Duration
	each     []time.Duration
	usage    meter.Usage
	// peak is resident memory in bytes.
	peak int64
}

// idling is what the operator did while nothing happened.
type idling struct {
	clusters int
	// autopilot is the mode that the operator was started with, empty for none.
	autopilot string
	usage     meter.Usage
	// resident is its memory in bytes at times that are equally far apart, sorted.
	resident []int64
	// calls to etcd over gRPC, and reads of members' metrics, counted by the servers.
	calls, reads int64
}

// scraping is what it took to scrape the operator's metrics.
type scraping struct {
	clusters int
	took     []time.Duration
	// bytes are those of the last answer, after decompression.
	bytes int
	// without and with are resident memory in bytes: before the first scrape, and right after each, sorted.
	without int64
	with    []int64
	usage   meter.Usage
}

// neighbours is how new clusters came up, one by one, beside some that hang.
type neighbours struct {
	clusters, silent int
	// when is how long after they began to hang.
	when  string
	each  []time.Duration
	usage meter.Usage
}

type report struct {
	idle       time.Duration
	created    []creation
	idling     []idling
	scraped    []scraping
	neighbours []neighbours
}

// print writes the tables as markdown.
func (r *report) print() {
	fmt.Printf("\nAll created at once:\n\n" +
		"| clusters of 3 | all healthy | one: median | 99th | operator's CPU | API writes, each | API reads, each " +
		"| passes, each | peak memory |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range r.created {
		n := float64(c.clusters)
		fmt.Printf("| %d | %.1f s | %.1f s | %.1f s | %.1f s | %.1f | %.1f | %.1f | %d MiB |\n", c.clusters,
			c.all.Seconds(), quantile(c.each, 0.5).Seconds(), quantile(c.each, 0.99).Seconds(), c.usage.CPU.Seconds(),
			float64(c.usage.Writes())/n, float64(c.usage.Reads())/n, float64(c.usage.Passes)/n, c.peak>>20)
	}
	fmt.Printf("\nIdle, over %s:\n\n"+
		"| clusters of 3 | Auto Pilot | CPU, cores | memory: median (range) | Go heap | until it is collected | API writes | API reads "+
		"| API requests | passes/s | etcd calls/s | metrics read/s |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", r.idle)
	for _, i := range r.idling {
		took := i.usage.Took.Seconds()
		fmt.Printf("| %d | %s | %.3f | %s | %.1f MiB | %.1f MiB | %d | %d | %s | %.1f | %.1f | %.1f |\n", i.clusters,
			cmp.Or(i.autopilot, "as specified"), i.usage.Cores(), mebibytes(i.resident), mebi(i.usage.Heap), mebi(i.usage.Goal),
			i.usage.Writes(), i.usage.Reads(), requests(i.usage), float64(i.usage.Passes)/took, float64(i.calls)/took, float64(i.reads)/took)
	}
	r.printScraped()
	if len(r.neighbours) == 0 {
		return
	}
	fmt.Print("\nOne new cluster beside others whose members all hang:\n\n" +
		"| clusters of 3 | of these hang | when | new one healthy: median (range) | CPU, cores | memory | passes/s |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, b := range r.neighbours {
		fmt.Printf("| %d | %d | %s | %s | %.3f | %d MiB | %.1f |\n", b.clusters, b.silent, b.when, seconds(b.each),
			b.usage.Cores(), b.usage.Memory>>20, float64(b.usage.Passes)/b.usage.Took.Seconds())
	}
}

func (r *report) printScraped() {
	if len(r.scraped) == 0 {
		return
	}
	fmt.Print("\nThe operator's metrics scraped:\n\n" +
		"| clusters of 3 | series | of one cluster, at most | answer | scrape: median (range) | memory before | memory: median | most " +
		"| CPU, cores |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, s := range r.scraped {
		fmt.Printf("| %d | %d | %d | %d KiB | %s, %d scrapes | %d MiB | %d MiB | %d MiB | %.3f |\n", s.clusters, s.usage.Series, s.usage.OfCluster,
			s.bytes>>10, seconds(s.took), len(s.took), s.without>>20, s.with[len(s.with)/2]>>20, s.with[len(s.with)-1]>>20, s.usage.Cores())
	}
}

// mebibytes are the median and the range of what is sorted.
func mebibytes(sorted []int64) string {
	return fmt.Sprintf("%.1f MiB (%.1f–%.1f)", mebi(sorted[len(sorted)/2]), mebi(sorted[0]), mebi(sorted[len(sorted)-1]))
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func quantile(all []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(q*float64(len(sorted)-1))]
}
