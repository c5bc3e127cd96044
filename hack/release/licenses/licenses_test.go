package licenses

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mit is the text of a license with a line of its own.
func mit(owner string) string {
	return "MIT License\n\nCopyright (c) 2026 " + owner + `

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
}

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`

// program is a module with one program, which imports a package of one module everywhere, and of another one on Windows only.
func program(t *testing.T, more map[string]string) Programs {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/program\n\ngo 1.26.0\n\nrequire (\n\texample.com/everywhere v1.0.0\n\texample.com/windows v1.0.0\n)\n\n" +
			"replace (\n\texample.com/everywhere => ./everywhere\n\texample.com/windows => ./windows\n)\n",
		"LICENSE":                    "ours",
		"main.go":                    "package main\n\nimport _ \"example.com/everywhere/inner\"\n\nfunc main() {}\n",
		"main_windows.go":            "package main\n\nimport _ \"example.com/windows\"\n",
		"everywhere/go.mod":          "module example.com/everywhere\n",
		"everywhere/LICENSE":         mit("everywhere"),
		"everywhere/NOTICE":          "This product includes something.\r\n",
		"everywhere/inner/inner.go":  "package inner\n",
		"everywhere/inner/LICENSE":   mit("inner"),
		"everywhere/unused/file.go":  "package unused\n",
		"everywhere/unused/LICENSE":  gpl,
		"everywhere/license.go":      "package everywhere\n",
		"windows/go.mod":             "module example.com/windows\n",
		"windows/windows.go":         "package windows\n",
		"windows/License.txt":        mit("everywhere"),
		"windows/docs/COPYING":       gpl,
		"everywhere/LICENSE.docs":    gpl,
		"everywhere/inner/readme.md": gpl,
	}
	for file, text := range more {
		files[file] = text
	}
	for file, text := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Programs{Dir: dir, Packages: []string{"."}}
}

func TestCollect(t *testing.T) {
	p := program(t, nil)
	for platform, want := range map[string][]string{
		"linux/amd64":   {"example.com/everywhere: MIT", "example.com/everywhere: MIT", "example.com/everywhere: "},
		"windows/amd64": {"example.com/everywhere example.com/windows: MIT", "example.com/everywhere: MIT", "example.com/everywhere: "},
	} {
		texts, err := Collect(t.Context(), []string{platform}, p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, text := range texts {
			if slices.Contains(text.Modules, standard) {
				continue
			}
			got = append(got, strings.Join(text.Modules, " ")+": "+strings.Join(text.Kinds, " "))
			if strings.Contains(text.Content, "\r") || strings.Contains(text.Content, "GNU") {
				t.Errorf("%s: there is %q", platform, text.Content)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", platform, got, want)
		}
		if !slices.ContainsFunc(texts, func(text Text) bool {
			return slices.Contains(text.Modules, standard) && slices.Equal(text.Kinds, []string{"BSD-3-Clause"})
		}) {
			t.Errorf("%s lacks the license of Go", platform)
		}
	}
}

func TestCollectRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		more map[string]string
		want []string
	}{
		"a license of another kind": {map[string]string{"everywhere/inner/LICENSE": gpl}, []string{"example.com/everywhere", "GPL-3.0"}},
		"a module without one":      {map[string]string{"windows/License.txt": ""}, []string{"example.com/windows has no license"}},
		"a notice alone": {
			map[string]string{"windows/License.txt": "", "windows/NOTICE": "Thanks."}, []string{"example.com/windows has no license"},
		},
	} {
		_, err := Collect(t.Context(), []string{"linux/amd64", "windows/amd64"}, program(t, test.more))
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error with %q", name, err, want)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	var out strings.Builder
	texts := []Text{{Modules: []string{"a", "b"}, Kinds: []string{"MIT"}, Content: "text"}, {Modules: []string{"c"}, Content: "notice"}}
	if err := Write(&out, "Title", texts); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80) + "\n"
	if want := "Title\n\n" + line + "a\nb\n\nMIT\n" + line + "text\n\n" + line + "c\n" + line + "notice\n"; out.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", out.String(), want)
	}
}
