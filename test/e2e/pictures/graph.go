package pictures

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendLine is how high a line of the legend is, of which there are at most so many.
const (
	legendLine  = vg.Length(14)
	legendLines = 4
)

// drawGraph draws the series over time, the thresholds that are among them, and the legend below.
func (p *panel) drawGraph(c draw.Canvas, w Window) bool {
	low, high := math.Inf(1), math.Inf(-1)
	graph := plot.New()
	var names []string
	var colors []color.Color
	for _, s := range p.series {
		pieces := s.pieces(w)
		if len(pieces) == 0 {
			continue
		}
		chosen := lines[len(names)%len(lines)]
		names, colors = append(names, s.name), append(colors, chosen)
		for _, piece := range pieces {
			for _, point := range piece {
				low, high = min(low, float64(point.Value)), max(high, float64(point.Value))
			}
			graph.Add(drawn(piece, chosen))
		}
	}
	if len(names) == 0 {
		return false
	}
	height := legend(c, names, colors)
	p.axes(graph, w, low, high)
	graph.Draw(draw.Crop(c, 0, 0, height, 0))
	return true
}

// drawn is a line through points, or a dot if there is only one.
func drawn(piece []model.SamplePair, with color.Color) plot.Plotter {
	points := make(plotter.XYs, len(piece))
	for i, point := range piece {
		points[i] = plotter.XY{X: float64(point.Timestamp) / 1000, Y: float64(point.Value)}
	}
	if len(points) == 1 {
		return &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: with, Radius: 2, Shape: draw.CircleGlyph{}}}
	}
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: with, Width: 1.4}}
}

// axes give a graph its scales, the lines at their marks, and the thresholds that are within.
func (p *panel) axes(graph *plot.Plot, w Window, low, high float64) {
	graph.BackgroundColor = sheet
	if low == high {
		low, high = min(low, 0), max(high, 0)
	}
	if low == high {
		high = 1
	}
	margin := (high - low) * 0.06
	bottom := low - margin
	if low >= 0 {
		bottom = max(bottom, 0)
	}
	graph.Y.Min, graph.Y.Max = bottom, high+margin
	graph.X.Min, graph.X.Max = float64(w.First.Unix()), float64(w.Last.Unix())
	graph.X.Tick.Marker, graph.Y.Tick.Marker = plot.TickerFunc(clock), marks(p.Config.Defaults.Unit)
	for _, axis := range []*plot.Axis{&graph.X, &graph.Y} {
		axis.Color, axis.Tick.Color, axis.Tick.Length = border, border, 3
		axis.Tick.Label.Font, axis.Tick.Label.Color = style(10, faint, draw.XCenter).Font, faint
		axis.Padding = 0
	}
	thin := draw.LineStyle{Color: grids, Width: 0.8}
	graph.Add(&plotter.Grid{Horizontal: thin, Vertical: thin})
	for _, t := range p.Config.Defaults.Thresholds.Steps {
		if t.Value == nil || *t.Value < graph.Y.Min || *t.Value > graph.Y.Max {
			continue
		}
		ends := plotter.XYs{{X: graph.X.Min, Y: *t.Value}, {X: graph.X.Max, Y: *t.Value}}
		graph.Add(&plotter.Line{XYs: ends, LineStyle: draw.LineStyle{Color: named[t.Color], Width: 1.2, Dashes: []vg.Length{5, 3}}})
	}
}

// clock marks round times, at most six of them.
func clock(low, high float64) (all []plot.Tick) {
	apart := 10.0
	for _, s := range []float64{30, 60, 120, 300, 600, 1200, 3600, 7200, 21600, 86400} {
		if (high-low)/apart > 6 {
			apart = s
		}
	}
	format := "15:04"
	if apart < 60 {
		format = "15:04:05"
	}
	for at := math.Ceil(low/apart) * apart; at <= high; at += apart {
		all = append(all, plot.Tick{Value: at, Label: time.Unix(int64(at), 0).UTC().Format(format)})
	}
	return all
}

// marks are an axis's, in a unit.
func marks(unit string) plot.TickerFunc {
	return func(low, high float64) (all []plot.Tick) {
		apart := between(low, high, unit)
		for n := math.Ceil(low / apart); n*apart <= high; n++ {
			all = append(all, plot.Tick{Value: n * apart, Label: number(n*apart, unit)})
		}
		return all
	}
}

// legend writes the names of the series at the bottom, and returns how high they are.
func legend(c draw.Canvas, names []string, colors []color.Color) vg.Length {
	type entry struct {
		text string
		x    vg.Length
		line int
	}
	var entries []entry
	x, last := vg.Length(0), 0
	for i, name := range names {
		width := style(small, ink, draw.XLeft).Width(name) + 30
		if x > 0 && x+width > c.Size().X {
			x, last = 0, last+1
		}
		if last == legendLines-1 && i < len(names)-1 && x+width+60 > c.Size().X {
			entries = append(entries, entry{fmt.Sprintf("and %d more", len(names)-i), x, last})
			break
		}
		entries = append(entries, entry{name, x, last})
		x += width
	}
	if len(names) == 1 && names[0] == "" {
		return 0
	}
	height := legendLine*vg.Length(last+1) + 4
	for i, e := range entries {
		at := vg.Point{X: c.Min.X + e.x, Y: c.Min.Y + height - 4 - legendLine*(vg.Length(e.line)+0.5)}
		fill(c, vg.Rectangle{Min: at.Add(vg.Point{Y: -1.5}), Max: at.Add(vg.Point{X: 12, Y: 1.5})}, colors[i])
		write(c, e.text, small, ink, at.Add(vg.Point{X: 16}), draw.XLeft)
	}
	return height
}
