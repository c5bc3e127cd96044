package plan_test

import "github.com/etcdpilot/etcd-operator/internal/world"

// edit is one edit of the spec.
type edit func(*world.Spec)

// Versions that never start.
const (
	badPatch = "3.6.99"
	badMinor = "3.7.99"
)

func version(v string) edit { return func(s *world.Spec) { s.Version = v } }
func template(n int) edit   { return func(s *world.Spec) { s.Template = n } }
func size(n int) edit       { return func(s *world.Spec) { s.Size = n } }
func class(n int) edit      { return func(s *world.Spec) { s.Class = n } }
func snapshot(n int) edit   { return func(s *world.Spec) { s.Restore = n } }
func off(n int) edit        { return func(s *world.Spec) { s.CalledOff = n } }
func unsaved() edit         { return func(s *world.Spec) { s.Restore, s.Unsaved = 1, 1 } }
func kind(s *world.Spec)    { s.Persistent = !s.Persistent }
func labels(n int) edit     { return func(s *world.Spec) { s.Labels = n } }
func resources(n int) edit  { return func(s *world.Spec) { s.Resources = n } }
func storage(n int) edit    { return func(s *world.Spec) { s.Storage = n } }

func fromSnapshot(s *world.Spec) { s.FromSnapshot = true }
func legacy(s *world.Spec)       { s.Legacy = true }
func legacyEnds(s *world.Spec)   { s.Legacy = false }
func paused(s *world.Spec)       { s.Paused, s.Template = true, 1 }
func goesOn(s *world.Spec)       { s.Paused = false }
func hibernated(s *world.Spec)   { s.Hibernate = true }
func awake(s *world.Spec)        { s.Hibernate = false }
func deleted(s *world.Spec)      { s.Deleted = true }
func invalid(s *world.Spec)      { s.Invalid, s.Template = true, 1 }
func valid(s *world.Spec)        { s.Invalid, s.Template = false, 2 }

// skip asks for a snapshot, and says that nothing of what that replaces needs to be saved.
func skip(n int) edit {
	return func(s *world.Spec) {
		if s.Restore, s.LastSkip = n, n; s.FirstSkip == 0 {
			s.FirstSkip = n
		}
	}
}

// restoredAs asks for a snapshot, and for another version with it.
func restoredAs(v string) edit {
	return func(s *world.Spec) { s.Restore, s.Version = 1, v }
}
