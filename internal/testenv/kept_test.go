package testenv

import (
	"slices"
	"testing"
)

func TestLost(t *testing.T) {
	want := map[string]any{
		"kept": "a", "changed": int64(1), "gone": true, "empty": map[string]any{}, "none": nil, "defaulted": map[string]any{"x": "y"},
		"list": []any{map[string]any{"name": "c", "new": "field"}}, "shorter": []any{"a", "b"}, "longer": []any{"a"},
	}
	have := map[string]any{
		"kept": "a", "changed": int64(2), "added": "b", "defaulted": map[string]any{"x": "y", "z": "w"},
		"list": []any{map[string]any{"name": "c"}}, "shorter": []any{"a"}, "longer": []any{"a", "b"},
	}
	got := lost("", want, have)
	slices.Sort(got)
	for i, path := range []string{
		".changed, which is 2 and was 1", ".empty, which is <nil> and was map[]", ".gone, which is <nil> and was true",
		".list[0].new, which is <nil> and was field", ".shorter, which is [a] and was [a b]",
	} {
		if i >= len(got) || got[i] != path {
			t.Fatalf("got %q, want %q among them", got, path)
		}
	}
	if len(got) != 5 {
		t.Errorf("got %q", got)
	}
}
