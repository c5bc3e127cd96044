package soak

import "testing"

// TestAllowed is the table of what may be done while something else is under way.
func TestAllowed(t *testing.T) {
	volumes, dirs := NewWorld(Volumes, 3, 3, false), NewWorld(EmptyDirs, 3, 3, false)
	five := NewWorld(Volumes, 5, 3, false)
	ill := NewWorld(Volumes, 3, 3, false)
	ill.Members[2].Healthy = false
	for name, c := range map[string]struct {
		world World
		under []Action
		a     Action
		want  bool
	}{
		"one member's data":                        {world: volumes, a: Action{Kind: WipeVolume}, want: true},
		"data while another member is not healthy": {world: ill, a: Action{Kind: WipeVolume}},
		"the data of a second member":              {world: five, under: []Action{{Kind: WipeVolume}}, a: Action{Kind: CorruptDB, Member: 1}},
		"data while another member is frozen":      {world: five, under: []Action{{Kind: FreezeProcess, Member: 1}}, a: Action{Kind: WipeVolume}},
		"a member frozen while data is replaced":   {world: five, under: []Action{{Kind: WipeVolume}}, a: Action{Kind: FreezeProcess, Member: 1}},
		"data while members are rolled":            {world: volumes, under: []Action{{Kind: Roll}}, a: Action{Kind: WipeVolume}},
		"members rolled while data is replaced":    {world: volumes, under: []Action{{Kind: WipeVolume}}, a: Action{Kind: Roll}},
		"data while the operator is away":          {world: volumes, under: []Action{{Kind: KillOperator}}, a: Action{Kind: WipeVolume}, want: true},
		"the API server away while it is replaced": {world: volumes, under: []Action{{Kind: WipeVolume}}, a: Action{Kind: StopAPIServer}, want: true},
		"the data of one of two":                   {world: NewWorld(Volumes, 2, 3, false), a: Action{Kind: WipeVolume}},
		"the only data":                            {world: NewWorld(EmptyDirs, 1, 3, false), a: Action{Kind: DeletePod}},
		"the only process":                         {world: NewWorld(EmptyDirs, 1, 3, false), a: Action{Kind: KillProcess}, want: true},
		"a pod on an emptyDir":                     {world: dirs, a: Action{Kind: DeletePod}, want: true},
		"a second pod on an emptyDir":              {world: dirs, under: []Action{{Kind: DeletePod}}, a: Action{Kind: DeletePod, Member: 1}},
		"a second pod on a volume":                 {world: volumes, under: []Action{{Kind: DeletePod}}, a: Action{Kind: DeletePod, Member: 1}, want: true},
		"the same pod twice":                       {world: volumes, under: []Action{{Kind: DeletePod}}, a: Action{Kind: KillProcess}},
		"a node with two of five emptyDirs":        {world: NewWorld(EmptyDirs, 5, 3, false), a: Action{Kind: KillNode}, want: true},
		"the node with two of four emptyDirs":      {world: NewWorld(EmptyDirs, 4, 3, false), a: Action{Kind: KillNode}},
		"a node without members":                   {world: NewWorld(EmptyDirs, 1, 3, false), a: Action{Kind: KillNode, Node: 1}, want: true},
		"all nodes, with volumes":                  {world: volumes, under: []Action{{Kind: KillNode}, {Kind: KillNode, Node: 1}}, a: Action{Kind: KillNode, Node: 2}, want: true},
		"a node that there is not":                 {world: volumes, a: Action{Kind: KillNode, Node: 3}},
		"a volume of an emptyDir":                  {world: dirs, a: Action{Kind: WipeVolume}},
		"a slow volume that is no disk":            {world: volumes, a: Action{Kind: SlowDisk}},
		"a slow disk":                              {world: NewWorld(Disks, 3, 3, false), a: Action{Kind: SlowDisk}, want: true},
		"the size that it has":                     {world: volumes, a: Action{Kind: Resize, Size: 3}},
		"another size":                             {world: volumes, a: Action{Kind: Resize, Size: 5}, want: true},
		"two edits":                                {world: volumes, under: []Action{{Kind: Roll}}, a: Action{Kind: Resize, Size: 5}},
		"an upgrade of the newest":                 {world: NewWorld(Volumes, 3, 3, true), a: Action{Kind: Upgrade}},
		"a restore without a backup":               {world: volumes, a: Action{Kind: Restore}},
		"a restore":                                {world: volumes.After(Wave{Actions: []Action{{Kind: Backup}}}), a: Action{Kind: Restore}, want: true},
		"data while no pod may be created":         {world: volumes, under: []Action{{Kind: RefusePods}}, a: Action{Kind: WipeVolume}, want: true},
		"two refusals":                             {world: volumes, under: []Action{{Kind: RefusePods}}, a: Action{Kind: RefuseChanges}},
		"a backup to storage that is away":         {world: volumes, under: []Action{{Kind: StopStorage}}, a: Action{Kind: Backup}, want: true},
		"the clock and the API server":             {world: volumes, under: []Action{{Kind: StopAPIServer}}, a: Action{Kind: ClockBack}},
		"no kind at all":                           {world: volumes, a: Action{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Allowed(c.world, c.under, c.a); got != c.want {
				t.Errorf("Allowed(%v after %v) = %v", c.a, c.under, got)
			}
		})
	}
}
