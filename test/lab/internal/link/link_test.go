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
