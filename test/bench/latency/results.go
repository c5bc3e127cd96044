package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// results are durations by step, in the order in which the steps were first measured.
type results struct {
	steps []string
	took  map[string][]time.Duration
	// upgrades are what clients saw, by step.
	upgrades map[string]upgraded
	// crowds are rounds with several clusters, which were left alone for the time idle.
	crowds []together
	idle   time.Duration
}

func (r *results) add(step string, d time.Duration) {
	if _, known := r.took[step]; !known {
		r.steps = append(r.steps, step)
	}
	r.took[step] = append(r.took[step], d)
	fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", d.Seconds(), step)
}

// print writes the tables.
func (r *results) print() {
	if len(r.steps) > 0 {
		fmt.Println("| step | median | range | runs |\n| --- | --- | --- | --- |")
	}
	for _, step := range r.steps {
		took := slices.Sorted(slices.Values(r.took[step]))
		fmt.Printf("| %s | %.1f s | %.1f–%.1f s | %d |\n", step, took[len(took)/2].Seconds(),
			took[0].Seconds(), took[len(took)-1].Seconds(), len(took))
	}
	r.printUpgrades()
	if len(r.crowds) == 0 {
		return
	}
	fmt.Print("\nCreated at once:\n\n" +
		"| clusters of 3 | all healthy | operator's CPU | API writes, each | API reads, each | etcd calls, each |\n" +
		"| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range r.crowds {
		n := float64(c.clusters)
		fmt.Printf("| %d | %.1f s | %.1f s | %.1f | %.1f | %.1f |\n", c.clusters, c.all.Seconds(), c.making.CPU.Seconds(),
			float64(c.making.Writes())/n, float64(c.making.Reads())/n, float64(c.making.Calls)/n)
	}
	fmt.Printf("\nLeft alone for %s, the renewal of the operator's lease every two seconds included:\n\n"+
		"| clusters of 3 | CPU, cores | memory | objects changed | API writes | API reads | passes | etcd calls |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n", r.idle)
	for _, c := range r.crowds {
		u := c.idle
		fmt.Printf("| %d | %.4f | %d MiB | %d | %d | %d | %d | %d |\n", c.clusters, u.Cores(), u.Memory>>20, c.changes,
			u.Writes(), u.Reads(), u.Passes, u.Calls)
	}
}

func (r *results) printUpgrades() {
	if len(r.upgrades) == 0 {
		return
	}
	fmt.Println("\n| upgrade, with a client | operations that failed | longest gap between writes, median | worst |\n" +
		"| --- | --- | --- | --- |")
	for _, step := range r.steps {
		seen, ok := r.upgrades[step]
		if !ok {
			continue
		}
		gaps := slices.Sorted(slices.Values(seen.gaps))
		fmt.Printf("| %s | %d of %d | %d ms | %d ms |\n", step, seen.failures, seen.operations,
			gaps[len(gaps)/2].Milliseconds(), gaps[len(gaps)-1].Milliseconds())
	}
}
