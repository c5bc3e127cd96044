package soak

import (
	"reflect"
	"slices"
	"testing"
)

// TestSeedRepeats draws the same waves twice, and others for another seed.
func TestSeedRepeats(t *testing.T) {
	draw := func(seed uint64) (waves []Wave) {
		w := NewWorld(Volumes, 3, 3, false)
		for n := 1; n <= 8; n++ {
			wave := NextWave(seed, 0, n, w)
			waves, w = append(waves, wave), w.After(wave)
		}
		return waves
	}
	if !reflect.DeepEqual(draw(7), draw(7)) {
		t.Error("one seed gave two different histories")
	}
	if reflect.DeepEqual(draw(7), draw(8)) {
		t.Error("two seeds gave the same history")
	}
}

// TestFiveRoundsHaveFiveSizes holds for every seed.
func TestFiveRoundsHaveFiveSizes(t *testing.T) {
	for seed := range uint64(50) {
		var sizes []int
		for round := range MaxSize {
			sizes = append(sizes, NextCluster(seed, round).Size)
		}
		slices.Sort(sizes)
		if !slices.Equal(sizes, []int{1, 2, 3, 4, 5}) {
			t.Fatalf("seed %d has clusters of %v", seed, sizes)
		}
	}
}

// TestEveryKindIsChosen finds each kind in some wave, and several actions at once in most.
func TestEveryKindIsChosen(t *testing.T) {
	seen, several, waves := map[Kind]int{}, 0, 0
	eachWave(func(_ uint64, _ World, wave Wave) {
		waves++
		if len(wave.Actions) > 1 {
			several++
		}
		if len(wave.Actions) == 0 || wave.Hold < minHold || wave.Hold >= maxHold {
			t.Fatalf("a wave is %+v", wave)
		}
		for _, a := range wave.Actions {
			seen[a.Kind]++
		}
	})
	for _, kind := range traits {
		if seen[kind.kind] == 0 {
			t.Errorf("%s was never chosen", kind.kind)
		}
	}
	if several < waves/2 {
		t.Errorf("only %d of %d waves do several things at once", several, waves)
	}
}

// TestDataOfOneMemberAtMost looks at every wave that loses data: all others work on, and nothing moves them.
func TestDataOfOneMemberAtMost(t *testing.T) {
	losing := 0
	eachWave(func(seed uint64, w World, wave Wave) {
		lost, broken, moved := map[int]bool{}, map[int]bool{}, false
		for _, a := range wave.Actions {
			moved = moved || slices.Contains([]Kind{Resize, Roll, Upgrade}, a.Kind)
			for _, place := range struck(w, a) {
				broken[place] = true
				if slices.Contains(traitOf(a.Kind).loses, w.Storage) {
					lost[place] = true
				}
			}
		}
		if len(lost) == 0 {
			return
		}
		losing++
		if len(lost) != len(broken) || moved || 2*len(lost) >= len(w.Members) {
			t.Fatalf("seed %d: %d of %d members lose their data, %d are broken, edited: %v: %v",
				seed, len(lost), len(w.Members), len(broken), moved, wave.Actions)
		}
	})
	if losing == 0 {
		t.Error("no wave loses data")
	}
}

// TestAPIServerGoesLast holds because nothing can be broken by way of Kubernetes afterwards.
func TestAPIServerGoesLast(t *testing.T) {
	eachWave(func(seed uint64, _ World, wave Wave) {
		for i, a := range wave.Actions {
			if a.Kind == StopAPIServer && i != len(wave.Actions)-1 {
				t.Fatalf("seed %d: something follows the API server's end: %v", seed, wave.Actions)
			}
		}
	})
}

// struck is whom an action is done to, told apart from what the choice itself goes by.
func struck(w World, a Action) (places []int) {
	for i, m := range w.Members {
		t := traitOf(a.Kind)
		if t.scope == toMember && a.Member == i || t.scope == toNode && a.Kind != RemoveImage && a.Node == m.Node {
			places = append(places, i)
		}
	}
	return places
}

// eachWave goes through the waves of many seeds.
func eachWave(visit func(seed uint64, w World, wave Wave)) {
	for seed := range uint64(300) {
		for round := range 5 {
			c := NextCluster(seed, round)
			w := NewWorld(c.Storage, c.Size, 3, c.Newest)
			for n := 1; n <= 4; n++ {
				wave := NextWave(seed, round, n, w)
				visit(seed, w, wave)
				w = w.After(wave)
			}
		}
	}
}
