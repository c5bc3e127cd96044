package pictures

import (
	"cmp"
	"slices"

	"github.com/prometheus/common/model"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawStat writes the last number of each series as large as fits, and its name below.
func (p *panel) drawStat(c draw.Canvas, w Window) bool {
	var shown []series
	for _, s := range p.series {
		if _, is := s.last(w); is {
			shown = append(shown, s)
		}
	}
	for i, s := range shown {
		v, _ := s.last(w)
		text, below := number(v, p.Config.Defaults.Unit), ""
		switch p.Options.TextMode {
		case "name":
			text = s.name
		case "value_and_name":
			below = s.name
		}
		width := c.Size().X / vg.Length(len(shown))
		size := vg.Length(32)
		for size > small && style(size, ink, draw.XCenter).Width(text) > width {
			size--
		}
		at := vg.Point{X: c.Min.X + width*(vg.Length(i)+0.5), Y: c.Center().Y}
		if below != "" {
			write(c, below, small, faint, vg.Point{X: at.X, Y: c.Min.Y + 4}, draw.XCenter)
			at.Y += 6
		}
		write(c, text, size, p.colorOf(v), at, draw.XCenter)
	}
	return len(shown) > 0
}

// identity are the labels that begin a line of a table, as the dashboards name them.
var identity = []struct {
	label model.LabelName
	title string
}{{"namespace", "Namespace"}, {"etcd_cluster", "Cluster"}, {"version", "Version"}}

// line is one of a table: what it is about, and a cell of text for each title.
type line struct {
	about string
	cells map[string]string
}

// drawTable writes one line for each cluster. The first target's numbers are not shown, as it is there for the labels.
func (p *panel) drawTable(c draw.Canvas, w Window) bool {
	var titles []string
	for _, column := range identity {
		titles = append(titles, column.title)
	}
	for _, t := range p.Targets[min(1, len(p.Targets)):] {
		titles = append(titles, t.Legend)
	}
	width := c.Size().X / vg.Length(len(titles))
	rows := p.lines(w)
	for i, title := range titles {
		x := c.Min.X + width*vg.Length(i)
		write(c, title, small, faint, vg.Point{X: x, Y: c.Max.Y - 8}, draw.XLeft)
		for n, row := range rows {
			y := c.Max.Y - 30 - 20*vg.Length(n)
			if y > c.Min.Y {
				write(c, row.cells[title], 12, ink, vg.Point{X: x, Y: y}, draw.XLeft)
			}
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: border, Width: 1}, c.Min.X, c.Max.Y-18, c.Max.X, c.Max.Y-18)
	return len(rows) > 0
}

// lines merge the numbers of the same cluster.
func (p *panel) lines(w Window) []line {
	rows := map[string]line{}
	for _, s := range p.series {
		v, is := s.last(w)
		if !is {
			continue
		}
		about := string(s.labels["namespace"] + "/" + s.labels["etcd_cluster"])
		row, exists := rows[about]
		if !exists {
			row = line{about, map[string]string{}}
			rows[about] = row
		}
		for _, column := range identity {
			if value := s.labels[column.label]; value != "" {
				row.cells[column.title] = string(value)
			}
		}
		row.cells[s.legend] = number(v, p.unitOf(s.legend))
	}
	var all []line
	for _, row := range rows {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.about, b.about) })
	return all
}

// unitOf is the unit of a column.
func (p *panel) unitOf(column string) string {
	for _, o := range p.Config.Overrides {
		for _, property := range o.Properties {
			if unit, is := property.Value.(string); is && o.Matcher.Options == column && property.ID == "unit" {
				return unit
			}
		}
	}
	return p.Config.Defaults.Unit
}
