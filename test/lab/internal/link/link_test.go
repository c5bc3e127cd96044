package link

import (
	"math"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for fault, want := range map[Fault]bool{
		{}: true, {Latency: time.Minute, Loss: 1}: true, {Latency: 50 * time.Millisecond, Loss: 0.05}: true,
		{Latency: -1}: false, {Latency: time.Minute + 1}: false, {Loss: -0.1}: false, {Loss: 5}: false,
		{Loss: math.NaN()}: false,
	} {
		if err := fault.Check(); (err == nil) != want {
			t.Errorf("%+v: %v", fault, err)
		}
	}
}

func TestFindQueue(t *testing.T) {
	const list = " 4711  30615     0 1 65531     0     0        0  1\n"
	if err := findQueue(list); err != nil {
		t.Error(err)
	}
	for _, list := range []string{"", "    0  4711     0 1 65531     0     0        0  1\n"} {
		if findQueue(list) == nil {
			t.Errorf("the queue is found in %q", list)
		}
	}
}
