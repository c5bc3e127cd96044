// Package world is a model of what surrounds the planner: etcd, Kubernetes, member-run, the operator's own loop, and all
// that can happen to them. A World is a plain value; Moves lists what can happen next; Explore visits every state that
// can be reached and checks what must always hold.
//
// Three kinds of moves: what is bound to happen if nothing is broken (a pod starts, a member publishes), the operator's
// own steps, and faults, of which a run has a bounded number. Time is abstract: a deadline has passed or not. It passes
// by itself when nothing else can happen; anywhere else, slowness is a fault.
//
// The operator plans on a live view and acts in one step. That it is slower in truth costs a fault, too: it can stop
// anywhere (and never come back) between its reads, its decision and each single effect, while the world goes on.
//
// Tests use all of it, those of packages plan and controllers/etcdcluster above all. kubectl etcd plan is the one program with it (a test holds the
// others to that): it makes a world from what was observed (Seed), and says what a fair run of it leads to (Foresee). That is the same model, so the
// explorer is compiled into the plugin, too, where nothing calls it.
package world
