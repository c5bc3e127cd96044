package pictures

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/etcdpilot/etcd-operator/internal/dashboards"
)

// window is any.
var window = Window{First: time.Unix(1790000000, 0), Last: time.Unix(1790000600, 0), Step: 5 * time.Second}

// madeUp answers every expression with series that have all labels of its target.
func madeUp(t dashboards.Query, p dashboards.Panel, count int) (all model.Matrix) {
	scale := map[dashboards.Unit]float64{dashboards.Seconds: 0.02, dashboards.Bytes: 4e7, dashboards.BytesASecond: 3e4, dashboards.Ratio: 0.3}[p.Unit]
	if scale == 0 {
		scale = 3
	}
	for n := range count {
		s := &model.SampleStream{Metric: model.Metric{"namespace": "test", "etcd_cluster": model.LabelValue(fmt.Sprintf("example-%d", n)), "version": "3.6.16"}}
		for _, label := range labels.FindAllStringSubmatch(t.Legend, -1) {
			if _, has := s.Metric[model.LabelName(label[1])]; !has {
				s.Metric[model.LabelName(label[1])] = model.LabelValue(fmt.Sprintf("example-%d", n))
			}
		}
		for at, i := window.First, 0; !at.After(window.Last); at, i = at.Add(window.Step), i+1 {
			v := scale * (1 + float64(n)/2 + 0.4*math.Sin(float64(i)/9+float64(n)))
			if p.Kind != dashboards.Graph && p.Unit == dashboards.None {
				v = float64(n)
			}
			s.Values = append(s.Values, model.SamplePair{Timestamp: model.TimeFromUnix(at.Unix()), Value: model.SampleValue(v)})
		}
		all = append(all, s)
	}
	return all
}

// asked is what to ask for made-up data of a dashboard.
func asked(d dashboards.Dashboard) Ask {
	answers := map[string]model.Matrix{}
	for _, p := range d.Panels() {
		for _, q := range p.Queries {
			count := 1
			if q.Legend != "" && p.Kind != dashboards.Stat {
				count = 3
			}
			answers[q.Expr] = madeUp(q, p, count)
		}
	}
	return func(expression string) (model.Matrix, error) {
		answer, exists := answers[expression]
		if !exists {
			return nil, fmt.Errorf("nothing was made up for %s", expression)
		}
		return answer, nil
	}
}

// TestPNG draws the dashboards from made-up data, and wants something in every panel. With PICTURES it leaves them in that folder.
func TestPNG(t *testing.T) {
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := PNG(text, "drawn from made-up data", window, asked(d))
		if err != nil {
			t.Fatal(err)
		}
		if folder := os.Getenv("PICTURES"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, "made-up-"+d.Name+".png"), drawn, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if len(drawn) > 200<<10 {
			t.Errorf("the picture of %s has %d bytes", d.Name, len(drawn))
		}
		picture, err := png.Decode(bytes.NewReader(drawn))
		if err != nil {
			t.Fatal(err)
		}
		filled(t, text, picture)
	}
}

// filled wants the picture to have the size of the dashboard, and ink in each panel below its title.
func filled(t *testing.T, text []byte, picture image.Image) {
	t.Helper()
	d, err := read(text, func(string) (model.Matrix, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	width, height := d.size()
	if want := image.Pt(int(width*dpi/72+0.5), int(height*dpi/72+0.5)); picture.Bounds().Size() != want {
		t.Fatalf("%s is %v, want %v", d.Title, picture.Bounds().Size(), want)
	}
	empty := d.draw("", window)
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		r, differ := p.Place.within(height), 0
		area := image.Rect(int(r.Min.X*dpi/72), int((height-r.Max.Y+26)*dpi/72), int(r.Max.X*dpi/72), int((height-r.Min.Y)*dpi/72))
		each(area, func(x, y int) {
			if at(picture, x, y) != at(empty, x, y) && at(picture, x, y) != sheet {
				differ++
			}
		})
		if differ < 30 {
			t.Errorf("%s: the panel %s is blank", d.Title, p.Title)
		}
	}
}

// TestNoData says so of panels without series.
func TestNoData(t *testing.T) {
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := PNG(text, "", window, func(string) (model.Matrix, error) { return nil, nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestNumber writes numbers in units.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0, "s", "0"},
		{0.0123, "s", "12.3 ms"},
		{90, "s", "1.5 min"},
		{-7200, "s", "-2 h"},
		{2 << 30, "bytes", "2 GiB"},
		{1536, "Bps", "1.5 KiB/s"},
		{0.125, "percentunit", "12.5 %"},
		{3, "none", "3"},
		{1234, "reqps", "1234 req/s"},
		{0.5, "ops", "0.5 /s"},
	} {
		if got := number(c.v, c.unit); got != c.want {
			t.Errorf("%v of %s is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
