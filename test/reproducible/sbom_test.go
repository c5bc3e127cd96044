package reproducible

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// component is what these tests read of a component of a CycloneDX document.
type component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// wantModules compares an SBOM with what Go's linker has written into the program: its modules, and Go's standard library.
func wantModules(t *testing.T, bom, program string) {
	t.Helper()
	text, err := os.ReadFile(bom)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Format       string  `json:"bomFormat"`
		SerialNumber *string `json:"serialNumber"`
		Metadata     struct {
			Timestamp *string   `json:"timestamp"`
			Component component `json:"component"`
		} `json:"metadata"`
		Components []component `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if document.Format != "CycloneDX" || document.SerialNumber != nil || document.Metadata.Timestamp != nil {
		t.Errorf("the format is %q, the serial number %v, the time %v",
			document.Format, document.SerialNumber, document.Metadata.Timestamp)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if got := document.Metadata.Component.Name; got != info.Main.Path {
		t.Errorf("it is the SBOM of %s, want %s", got, info.Main.Path)
	}
	want := []component{{"std", info.GoVersion}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		want = append(want, component{module.Path, module.Version})
	}
	for _, c := range want {
		if !slices.Contains(document.Components, c) {
			t.Errorf("%s %s is in the program, and not in its SBOM", c.Name, c.Version)
		}
	}
	if len(document.Components) != len(want) {
		t.Errorf("the SBOM has %d components, the program %d", len(document.Components), len(want))
	}
}
