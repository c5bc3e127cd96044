package plan

import (
	"reflect"
	"testing"
)

// TestPartOf has the first of each action's writes accepted, and then what it is all about.
func TestPartOf(t *testing.T) {
	pod := func(verb, name string) Target { return Target{verb, KindPod, name} }
	volume := func(verb, name string) Target { return Target{verb, KindVolume, name} }
	image := func(node string) NodeImage { return NodeImage{Node: node, Image: "i"} }
	for title, c := range map[string]struct {
		action   Action
		accepted []Target
		want     Action // nil for nothing
	}{
		"pods": {
			CreatePods{[]NewPod{{Name: "c-0"}, {Name: "c-1", FromPreviousSpec: true}}},
			[]Target{pod("create", "c-0")},
			CreatePods{[]NewPod{{Name: "c-0"}}},
		},
		"volumes": {
			CreateVolumes{Names: []string{"c-0", "c-1"}, Incarnation: 1},
			[]Target{volume("create", "c-1")},
			CreateVolumes{Names: []string{"c-1"}, Incarnation: 1},
		},
		"permits": {
			WritePermits{[]PodPermit{{Pod: "c-0"}, {Pod: "c-1"}}},
			[]Target{volume("annotate", "c-0"), volume("annotate", "c-1"), pod("write the start permit of", "c-1")},
			WritePermits{[]PodPermit{{Pod: "c-1"}}},
		},
		"marks only": {WritePermits{[]PodPermit{{Pod: "c-0"}}}, []Target{volume("annotate", "c-0")}, nil},
		"Service": {
			AddToService{[]string{"c-0", "c-1"}}, []Target{pod("add to the client Service", "c-0")}, AddToService{[]string{"c-0"}},
		},
		"storage": {Expand{[]string{"c-0", "c-1"}}, []Target{volume("expand", "c-0")}, Expand{[]string{"c-0"}}},
		"images": {
			PrepullImages{[]NodeImage{image("a"), image("b")}},
			[]Target{{"create", "image pull Pod", "b/i"}},
			PrepullImages{[]NodeImage{image("b")}},
		},
		"a mark, and no image":  {SetImage{Name: "c-0"}, []Target{volume("annotate", "c-0")}, nil},
		"a mark, and an image":  {SetImage{Name: "c-0"}, []Target{pod("change the image of", "c-0")}, SetImage{Name: "c-0"}},
		"a mark, and the pod":   {Recreate{Name: "c-0"}, []Target{pod("delete", "c-0")}, Recreate{Name: "c-0"}},
		"a mark before the pod": {Recreate{Name: "c-0"}, []Target{volume("annotate", "c-0")}, nil},
		"one write":             {DeletePod{Name: "c-0"}, []Target{pod("delete", "c-0")}, DeletePod{Name: "c-0"}},
		"none":                  {DeletePod{Name: "c-0"}, nil, nil},
	} {
		got, some := PartOf(c.action, c.accepted)
		if some != (c.want != nil) || some && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", title, got, some)
		}
	}
}
