package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// glance is how far apart looks at the operator's memory are.
const glance = 5 * time.Second

// idle watches the operator when nothing happens, in each mode of Auto Pilot that is to be compared.
func (m *measurement) idle(ctx context.Context, r *report) error {
	if len(m.options.autopilot) == 0 {
		return m.rest(ctx, "", r)
	}
	for _, mode := range m.options.autopilot {
		if err := m.operator.restart(ctx, "--autopilot", mode); err != nil {
			return err
		}
		// It reads all objects, looks at all clusters, and samples all members: that is over then, and has left its memory.
		if err := pause(ctx, sampled); err != nil {
			return err
		}
		if err := m.rest(ctx, mode, r); err != nil {
			return err
		}
	}
	return nil
}

// rest watches the operator when nothing happens, in that mode of Auto Pilot.
func (m *measurement) rest(ctx context.Context, mode string, r *report) error {
	row := idling{clusters: m.n, autopilot: mode}
	before, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	calls, reads := m.world.server.calls.Load(), m.world.server.reads.Load()
	for end := time.Now().Add(m.options.idle); time.Now().Before(end); {
		if err := pause(ctx, min(glance, time.Until(end))); err != nil {
			return err
		}
		now, err := m.operator.memory(resident)
		if err != nil {
			return err
		}
		row.resident = append(row.resident, now)
	}
	after, err := m.operator.read(ctx)
	if err != nil {
		return err
	}
	slices.Sort(row.resident)
	row.usage, row.calls, row.reads = after.Since(before), m.world.server.calls.Load()-calls, m.world.server.reads.Load()-reads
	m.progress("idle: %.3f cores, %s, %d writes", row.usage.Cores(), mebibytes(row.resident), row.usage.Writes())
	r.idling = append(r.idling, row)
	return m.operator.profile(ctx, fmt.Sprintf("idle%s-%d", mode, m.n))
}
