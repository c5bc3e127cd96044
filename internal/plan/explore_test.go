package plan_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/world"
)

// ordinary are the faults that every cluster meets sooner or later.
var ordinary = slices.Concat(
	world.PodFaults, world.NodeFaults, world.VolumeFaults, world.OperatorFaults, world.TimeFaults)

// stops are the ways in which members and the operator do.
var stops = slices.Concat(world.PodFaults, world.NodeFaults, world.OperatorFaults)

// scenario is one exploration for the usual test. Full says what `make explore` makes of it.
type scenario struct {
	sizes     []int  // the first one, and those that the user asks for later
	first     edit   // what the first spec has besides
	edits     []edit // what the user asks for then, one after the other
	running   bool
	retained  bool // what an earlier cluster has left; with volumes only
	linger    bool // its pods are there still
	version   string
	kinds     []world.Kind // in addition to the ordinary ones
	only      []world.Kind // instead of the ordinary ones
	claims    bool         // claims of others that have the cluster's labels
	copies    bool         // a claim of another owner's with the initial member's name
	ran       bool         // the status of coreos/etcd-operator
	rigid     bool         // no volume can be made bigger
	stunted   bool         // no volume that is to be made bigger ever is
	silent    bool         // no dead node, and no pod that lingers, is ever taken out of the cluster
	abrupt    bool         // etcd runs until its pod is gone: with fewer states
	asks      bool         // member-run asks the other members whether it was started
	local     bool         // a volume is on the node on which its pod was scheduled first; with volumes only
	razed     bool         // no such node ever comes back
	denied    []string     // versions that the API server lets no pod have
	forGood   bool         // what the API server refuses, it refuses for good
	crowded   bool         // no pod starts that is to listen on the other port for peers
	walled    bool         // no member reaches another on that port
	compares  bool         // the operator may replace members whose data differs
	deaf      bool         // the operator reaches no member with TLS
	pilot     bool         // Auto Pilot sees to databases
	grows     bool         // Auto Pilot may raise the quota
	sleeps    bool         // all members are stopped for a time; with volumes only
	tested    []string     // Auto Pilot follows these releases, of which the operator is tested with one after the other
	relocates bool         // Auto Pilot moves members off slow disks
	spareless bool         // there is no node to move one to
	resizes   bool         // Auto Pilot has members request more and less CPU
	memory    bool         // and memory instead of that
	tight     bool         // no node takes a pod that requests more than the spec says
	before    []world.Kind // what has happened before
	lockstep  bool
	faults    int
	full      int
}

var scenarios = map[string]scenario{
	"first start of 1":                  {sizes: []int{1}, faults: 2, full: 3},
	"first start of 2":                  {sizes: []int{2}, faults: 1, full: 2},
	"first start of 3":                  {sizes: []int{3}, faults: 0, full: 1},
	"first start of 3 in lockstep":      {sizes: []int{3}, lockstep: true, abrupt: true, faults: 1, full: 2},
	"first start of 1 then 3":           {sizes: []int{1, 3}, lockstep: true, faults: 1, full: 2},
	"first start of 5":                  {sizes: []int{5}, lockstep: true, faults: 0, full: 1},
	"one runs":                          {sizes: []int{1}, running: true, faults: 2, full: 3},
	"two run":                           {sizes: []int{2}, running: true, faults: 2, full: 3},
	"three run":                         {sizes: []int{3}, running: true, lockstep: true, faults: 2, full: 2},
	"five run":                          {sizes: []int{5}, running: true, lockstep: true, faults: 1, full: 2},
	"from 1 to 3":                       {sizes: []int{1, 3}, running: true, lockstep: true, faults: 1, full: 2},
	"from 3 to 1":                       {sizes: []int{3, 1}, running: true, lockstep: true, faults: 1, full: 2},
	"from 3 to 2 and back":              {sizes: []int{3, 2, 3}, running: true, lockstep: true, faults: 1, full: 2},
	"from 2 to 3 to 1":                  {sizes: []int{2, 3, 1}, running: true, lockstep: true, faults: 1, full: 2},
	"volumes of a deleted cluster of 3": {sizes: []int{3}, retained: true, lockstep: true, faults: 1, full: 2},
	"volumes of 3 for a cluster of 1":   {sizes: []int{3, 1}, retained: true, lockstep: true, faults: 1, full: 2},
	"from 1 to 3 with etcd 3.5, one learner at a time": {
		sizes: []int{1, 3}, running: true, version: "3.5.35", lockstep: true, faults: 1, full: 2,
	},
	"strange things in a first start": {
		sizes: []int{3}, kinds: world.StrangeFaults, lockstep: true, faults: 1, full: 2,
	},
	"status is put back from 3 to 1":        {sizes: []int{3, 1}, running: true, only: world.SetBackFaults, lockstep: true, faults: 1, full: 2},
	"status is put back in a template roll": {sizes: []int{1}, edits: []edit{template(1)}, running: true, only: world.SetBackFaults, lockstep: true, faults: 1, full: 2},
	"status is put back where three run, and removed": {
		sizes: []int{3}, running: true, only: append(world.SetBackFaults, world.StatusFaults...), lockstep: true, faults: 2, full: 2,
	},
	"status is put back where one of three was replaced": {
		sizes: []int{3}, running: true, only: append(world.SetBackFaults, world.Kills...), lockstep: true, faults: 2, full: 2,
	},
	"the disk is replaced below the pod where one runs": {sizes: []int{1}, running: true, only: world.ReplacedDisks, asks: true, lockstep: true, faults: 1, full: 2},
	"disks are replaced below pods where three run":     {sizes: []int{3}, running: true, only: world.ReplacedDisks, asks: true, lockstep: true, faults: 2, full: 3},
	"disks are replaced below pods from 1 to 3":         {sizes: []int{1, 3}, running: true, only: world.ReplacedDisks, asks: true, lockstep: true, faults: 1, full: 2},
	"strange things where three run": {
		sizes: []int{3}, running: true, kinds: world.StrangeFaults, lockstep: true, faults: 1, full: 2,
	},
	"forged pods where three run": {
		sizes: []int{3}, running: true, only: world.ForgedFaults, lockstep: true, faults: 3, full: 4,
	},
	"forged pods from 2 to 1 to 3": {
		sizes: []int{2, 1, 3}, running: true, only: world.ForgedFaults, lockstep: true, faults: 1, full: 3,
	},
	"forged pods in a first start of 3": {
		sizes: []int{3}, only: world.ForgedFaults, lockstep: true, faults: 2, full: 3,
	},
	"restore of volumes that are taken up": {
		sizes: []int{1}, edits: []edit{snapshot(1)}, retained: true, lockstep: true, faults: 1, full: 2,
	},
	"claims of others where three run": {
		sizes: []int{3}, running: true, claims: true, lockstep: true, faults: 1, full: 2,
	},
	"claims of others, from 3 to 1 and back": {
		sizes: []int{3, 1, 3}, running: true, claims: true, lockstep: true, faults: 0, full: 1,
	},
	"claims of others beside volumes that are taken up": {
		sizes: []int{3}, retained: true, claims: true, lockstep: true, faults: 0, full: 1,
	},
	"slow and hung disks where three run": {
		sizes: []int{3}, running: true, only: troubles, lockstep: true, faults: 2, full: 3,
	},
	"alarms and old data where three run": {
		sizes: []int{3}, running: true, only: slices.Concat(world.DataFaults, world.PodFaults), lockstep: true, faults: 2, full: 3,
	},
	"no space and free pages where three run": {
		sizes: []int{3}, running: true, pilot: true, only: slices.Concat(world.DatabaseFaults, stops), lockstep: true, faults: 2, full: 3,
	},
	"no space while it shrinks": {
		sizes: []int{3, 1}, running: true, pilot: true, only: world.DatabaseFaults, lockstep: true, faults: 2, full: 3,
	},
	"from a snapshot":                        {sizes: []int{3}, first: fromSnapshot, kinds: world.StartFaults, lockstep: true, faults: 1, full: 2},
	"a spec that cannot work at first":       {sizes: []int{1}, first: invalid, edits: []edit{valid}, lockstep: true, faults: 1, full: 2},
	"pods of a deleted cluster linger":       {sizes: []int{3}, retained: true, linger: true, lockstep: true, faults: 1, full: 2},
	"a copy beside volumes":                  {sizes: []int{3}, retained: true, copies: true, lockstep: true, full: 1},
	"a claim of others for the first member": {sizes: []int{1}, copies: true, lockstep: true, full: 1},
	"a claim of others in a first start":     {sizes: []int{3}, kinds: world.ClaimFaults, lockstep: true, faults: 1, full: 2},
	"another template in a first start":      {sizes: []int{3}, edits: []edit{template(1)}, lockstep: true, full: 1},
	"restore called off in a first start":    {sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, lockstep: true, full: 1},
	"hibernates from the start":              {sizes: []int{1}, first: hibernated, edits: []edit{awake}, sleeps: true, lockstep: true, faults: 1, full: 2},
	"after coreos/etcd-operator": {
		sizes: []int{1}, first: legacy, ran: true, edits: []edit{legacyEnds, snapshot(1)}, lockstep: true, faults: 1, full: 2,
	},
}

// troubles are those of disks, and what may come together with them.
var troubles = slices.Concat(world.DiskFaults, world.PodFaults, world.TimeFaults, world.OperatorFaults)

// updates are the scenarios in which a running cluster is changed, all in lockstep.
var updates = map[string]scenario{
	"patch of 1":                   {sizes: []int{1}, version: "3.6.15", edits: []edit{version("3.6.16")}, faults: 1, full: 2},
	"patch of 2":                   {sizes: []int{2}, version: "3.6.15", edits: []edit{version("3.6.16")}, faults: 0, full: 1},
	"patch of 3":                   {sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16")}, faults: 1, full: 1},
	"minor up of 3":                {sizes: []int{3}, version: "3.6.16", edits: []edit{version("3.7.3")}, full: 1},
	"minor up of 3 from 3.5":       {sizes: []int{3}, version: "3.5.35", edits: []edit{version("3.6.16")}, full: 1},
	"minor up taken back":          {sizes: []int{3}, version: "3.6.16", edits: []edit{version("3.7.3"), version("3.6.16")}, full: 1},
	"downgrade of 3":               {sizes: []int{3}, version: "3.7.3", edits: []edit{version("3.6.16")}, full: 1},
	"downgrade of 1":               {sizes: []int{1}, version: "3.7.3", edits: []edit{version("3.6.16")}, full: 1},
	"downgrade taken back":         {sizes: []int{3}, version: "3.7.3", edits: []edit{version("3.6.16"), version("3.7.3")}, full: 1},
	"template of 1":                {sizes: []int{1}, edits: []edit{template(1)}, faults: 1, full: 2},
	"template of 3":                {sizes: []int{3}, edits: []edit{template(1)}, faults: 1, full: 1},
	"template of 3 without room":   {sizes: []int{3}, edits: []edit{template(1)}, only: world.RoomFaults, faults: 1, full: 2},
	"template with free pages":     {sizes: []int{3}, edits: []edit{template(1)}, pilot: true, only: world.DatabaseFaults, faults: 2, full: 3},
	"two templates":                {sizes: []int{3}, edits: []edit{template(1), template(2)}, full: 1},
	"bad template, then back":      {sizes: []int{3}, edits: []edit{template(-1), template(0)}, faults: 1, full: 1},
	"bad version, then back":       {sizes: []int{3}, version: "3.6.15", edits: []edit{version(badPatch), version("3.6.15")}, faults: 1, full: 1},
	"bad minor, then back":         {sizes: []int{3}, version: "3.6.16", edits: []edit{version(badMinor), version("3.6.16")}, faults: 1, full: 1},
	"other kind of data of 1":      {sizes: []int{1}, edits: []edit{kind}, faults: 1, full: 2},
	"other kind of data of 3":      {sizes: []int{3}, edits: []edit{kind}, full: 1},
	"other class of volumes":       {sizes: []int{3}, edits: []edit{class(1)}, full: 1},
	"grows in an update":           {sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16"), size(5)}, full: 1},
	"shrinks in an update":         {sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16"), size(1)}, full: 1},
	"restore of 1":                 {sizes: []int{1}, edits: []edit{snapshot(1)}, faults: 1, full: 2},
	"restore of 3":                 {sizes: []int{3}, edits: []edit{snapshot(1)}, faults: 1, full: 1},
	"restore after restore":        {sizes: []int{1}, edits: []edit{snapshot(1), snapshot(2)}, abrupt: true, faults: 1, full: 1},
	"restore while it grows":       {sizes: []int{1}, edits: []edit{size(3), snapshot(1)}, full: 1},
	"restore in an update":         {sizes: []int{3}, edits: []edit{template(1), snapshot(1)}, full: 1},
	"restore to another minor":     {sizes: []int{1}, version: "3.6.16", edits: []edit{restoredAs("3.7.3")}, faults: 1, full: 1},
	"restore called off, of 1":     {sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, faults: 1, full: 2},
	"restore called off, of 3":     {sizes: []int{3}, edits: []edit{snapshot(1), off(1)}, full: 1},
	"restore superseded":           {sizes: []int{1}, edits: []edit{snapshot(1), snapshot(2)}, kinds: world.RestoreFaults, abrupt: true, faults: 1, full: 2},
	"called off while it grows":    {sizes: []int{1}, edits: []edit{size(2), snapshot(1), off(1)}, only: stops, full: 1},
	"called off while it shrinks":  {sizes: []int{3}, edits: []edit{size(1), snapshot(1), off(1)}, only: stops, full: 1},
	"called off as members go":     {sizes: []int{3}, edits: []edit{snapshot(1), off(1)}, only: stops, abrupt: true, faults: 1, full: 2},
	"called off, or impossible":    {sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, kinds: world.RestoreFaults, faults: 1, full: 2},
	"called off, then another":     {sizes: []int{1}, edits: []edit{snapshot(1), off(1), snapshot(2)}, full: 1},
	"two restores called off":      {sizes: []int{1}, edits: []edit{snapshot(1), snapshot(2), off(2)}, full: 1},
	"restore that fails":           {sizes: []int{1}, edits: []edit{snapshot(1)}, kinds: world.RestoreFaults, abrupt: true, faults: 2, full: 2},
	"restore of unsaved data":      {sizes: []int{1}, edits: []edit{unsaved()}, faults: 1, full: 1},
	"restore onto a claim":         {sizes: []int{1}, edits: []edit{snapshot(1)}, only: world.ClaimFaults, faults: 1, full: 1},
	"restore with Skip of 1":       {sizes: []int{1}, edits: []edit{skip(1)}, faults: 1, full: 2},
	"restore with Skip of 3":       {sizes: []int{3}, edits: []edit{skip(1)}, full: 1},
	"Skip, then superseded":        {sizes: []int{1}, edits: []edit{skip(1), snapshot(2), off(2)}, full: 1},
	"Skip, and Skip again":         {sizes: []int{1}, edits: []edit{skip(1), skip(2)}, full: 1},
	"restore, later one with Skip": {sizes: []int{1}, edits: []edit{snapshot(1), skip(2), size(3)}, full: 1},
	"restore after a lost status":  {sizes: []int{1}, edits: []edit{snapshot(1)}, only: world.StatusFaults, faults: 1, full: 2},
	"Skip, and a lost status":      {sizes: []int{1}, edits: []edit{skip(1)}, only: world.StatusFaults, faults: 1, full: 2},
	"called off in a bad update":   {sizes: []int{3}, edits: []edit{template(-1), snapshot(1), off(1)}, full: 1},
	"called off in a template":     {sizes: []int{3}, edits: []edit{template(1), snapshot(1), off(1), template(2)}, full: 1},
	"called off in an update":      {sizes: []int{3}, version: "3.6.15", edits: []edit{snapshot(1), version("3.6.16"), off(1)}, full: 1},
	"grows in a template roll":     {sizes: []int{3}, edits: []edit{template(1), size(5)}, full: 1},
	"minor up of 3, twice":         {sizes: []int{3}, version: "3.5.35", edits: []edit{version("3.6.16"), version("3.7.3")}, full: 1},
	"status lost on the way up":    {sizes: []int{3}, version: "3.5.35", edits: []edit{version("3.6.16"), version("3.7.3")}, only: world.StatusFaults, faults: 1, full: 1},
	"labels and resources":         {sizes: []int{3}, edits: []edit{labels(1), resources(1)}, kinds: world.ResizeFaults, faults: 1, full: 1},
	"resources of another kind":    {sizes: []int{3}, edits: []edit{resources(-1), resources(0)}, full: 1},
	"bigger volumes":               {sizes: []int{3}, edits: []edit{storage(1), storage(2)}, faults: 1, full: 1},
	"volumes that cannot grow":     {sizes: []int{3}, edits: []edit{storage(1)}, rigid: true, full: 1},
	"paused":                       {sizes: []int{3}, edits: []edit{paused, goesOn}, faults: 1, full: 2},
	"deleted":                      {sizes: []int{3}, edits: []edit{deleted}, faults: 1, full: 2},
	"spec that cannot work":        {sizes: []int{3}, edits: []edit{invalid, valid}, faults: 1, full: 1},
}

func TestExplore(t *testing.T) {
	full := os.Getenv("EXPLORE") == "full"
	if !full { // there is memory to spare up to what the tests may take, and less time
		defer debug.SetGCPercent(debug.SetGCPercent(400))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30))
	}
	decided := &decisions{lines: map[string]string{}, rules: map[string]bool{}, guarded: map[[2]string]bool{}}
	explorations := 0
	t.Run("all", func(t *testing.T) {
		for title, s := range allScenarios() {
			for _, persistent := range []bool{false, true} {
				if (s.retained || s.local || s.sleeps) && !persistent {
					continue
				}
				explorations++
				title := fmt.Sprintf("%s persistent=%t", title, persistent)
				t.Run(title, func(t *testing.T) {
					t.Parallel()
					explore(t, title, s.with(persistent, full, nil), decided)
				})
			}
		}
	})
	all := len(decided.lines) == explorations
	if !full {
		decided.compare(t, all)
	}
	if all {
		decided.checkRules(t)
		decided.checkGuards(t)
	}
}

func explore(t *testing.T, title string, s world.Scenario, into *decisions) {
	r := newRecorder()
	s.Next, s.Record, s.Stop = r.next, r.record, *stop
	report := world.Explore(s)
	t.Log(report)
	if report.Violation != nil {
		t.Error(report.Violation)
		return
	}
	r.write(t, title)
	into.add(title, report.States, r)
}

func (s scenario) with(persistent, full bool, next world.Planner) world.Scenario {
	if s.version == "" {
		s.version = "3.7.3"
	}
	if full {
		s.faults = s.full
	}
	spec := world.Spec{Size: s.sizes[0], Persistent: persistent, Version: s.version, Memory: s.memory}
	if s.first != nil {
		s.first(&spec)
	}
	var edits []world.Spec
	last := spec
	for _, size := range s.sizes[1:] {
		last.Size = size
		edits = append(edits, last)
	}
	for _, change := range s.edits {
		change(&last)
		edits = append(edits, last)
	}
	kinds := s.only
	if kinds == nil {
		kinds = slices.Concat(ordinary, s.kinds)
	}
	return world.Scenario{
		Config: world.Config{
			Spareless: s.spareless, Tight: s.tight, Autopilot: s.autopilot(), Tested: s.tested,
			Unfit: []string{badPatch, badMinor}, Rigid: s.rigid, Stunted: s.stunted, Silent: s.silent, Denied: s.denied, ForGood: s.forGood,
			Next: next, Asks: s.asks, Abrupt: s.abrupt, Local: s.local, Razed: s.razed,
			Crowded: s.crowded, Walled: s.walled, Deaf: s.deaf,
		},
		Spec: spec, Edits: edits, Running: s.running, Retained: s.retained, Linger: s.linger,
		Claims: s.claims, Copies: s.copies, RanBefore: s.ran, Before: s.before,
		Lockstep: s.lockstep, Faults: s.faults, Kinds: kinds,
	}
}
