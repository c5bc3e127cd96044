// Package pictures draws the dashboards that are made for Grafana, from what Prometheus answers to their queries. It reads the dashboards'
// JSON, and follows what is there of places, titles, units, legends and thresholds. It is not Grafana: how that looks, it does not tell.
package pictures

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Window is what time a picture shows: from First to Last, with a point every Step.
type Window struct {
	First, Last time.Time
	Step        time.Duration
}

// Ask returns the series that an expression of a dashboard has within the window of the picture. Variables are still in the expression.
type Ask func(expression string) (model.Matrix, error)

// dashboard is what is read of Grafana's JSON.
type dashboard struct {
	Title  string  `json:"title"`
	Panels []panel `json:"panels"`
}

type panel struct {
	Type    string   `json:"type"`
	Title   string   `json:"title"`
	Place   place    `json:"gridPos"`
	Targets []target `json:"targets"`
	Config  struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []threshold `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
		Overrides []override `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		TextMode string `json:"textMode"`
	} `json:"options"`
	// series are what the targets have.
	series []series
}

// place is in cells of Grafana's grid, whose origin is at the top left.
type place struct{ X, Y, W, H int }

type target struct {
	Expression string `json:"expr"`
	Legend     string `json:"legendFormat"`
}

// threshold is the color of numbers from Value on, and of all lower ones if that is nil.
type threshold struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// override gives a column of a table a unit of its own.
type override struct {
	Matcher struct {
		Options string `json:"options"`
	} `json:"matcher"`
	Properties []struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	} `json:"properties"`
}

// series is one line of a graph, one number of a stat, or one cell of a table.
type series struct {
	name, legend string
	labels       model.Metric
	points       []model.SamplePair
}

// read has what a dashboard shows, and asks for its data.
func read(text []byte, ask Ask) (*dashboard, error) {
	d := &dashboard{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read a dashboard: %w", err)
	}
	for i := range d.Panels {
		p := &d.Panels[i]
		for _, t := range p.Targets {
			answer, err := ask(t.Expression)
			if err != nil {
				return nil, fmt.Errorf("ask what the panel %s shows: %w", p.Title, err)
			}
			for _, s := range answer {
				p.series = append(p.series, series{name: t.name(s.Metric), legend: t.Legend, labels: s.Metric, points: s.Values})
			}
		}
	}
	return d, nil
}

// labels are those in a legend, as in "{{etcd_node}}".
var labels = regexp.MustCompile(`{{(\w+)}}`)

// name is what the legend calls a series.
func (t target) name(of model.Metric) string {
	return strings.TrimSpace(labels.ReplaceAllStringFunc(t.Legend, func(label string) string {
		return string(of[model.LabelName(strings.Trim(label, "{}"))])
	}))
}

// last is the number of a series at the end of the window, if there is one then.
func (s series) last(w Window) (float64, bool) {
	if len(s.points) == 0 {
		return 0, false
	}
	point := s.points[len(s.points)-1]
	return float64(point.Value), w.Last.Sub(point.Timestamp.Time()) < w.Step+time.Millisecond && finite(point)
}

// pieces are the points of a series that belong together: there is no point missing between them.
func (s series) pieces(w Window) (all [][]model.SamplePair) {
	var previous time.Time
	for _, point := range s.points {
		if !finite(point) {
			continue
		}
		at := point.Timestamp.Time()
		if len(all) == 0 || at.Sub(previous) > w.Step*3/2 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], point)
		previous = at
	}
	return all
}

func finite(p model.SamplePair) bool {
	return !math.IsNaN(float64(p.Value)) && !math.IsInf(float64(p.Value), 0)
}
