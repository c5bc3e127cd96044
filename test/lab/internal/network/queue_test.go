package network

import "testing"

func TestFindQueue(t *testing.T) {
	const list, number = " 4711  30615     0 1 65531     0     0        0  1\n", 4711
	if err := findQueue(list, number); err != nil {
		t.Error(err)
	}
	for _, list := range []string{"", "    0  4711     0 1 65531     0     0        0  1\n"} {
		if findQueue(list, number) == nil {
			t.Errorf("the queue is found in %q", list)
		}
	}
}
