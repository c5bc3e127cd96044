package pictures

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Lengths are in points. A cell is one of Grafana's grid, which has so many columns.
const (
	columns    = 24
	cellWidth  = vg.Length(50)
	cellHeight = vg.Length(26)
	header     = vg.Length(44)
	gap        = vg.Length(4)
	pad        = vg.Length(8)
	small      = vg.Length(11)
	dpi        = 90
)

var (
	paper  = color.RGBA{R: 0xf4, G: 0xf5, B: 0xf5, A: 0xff}
	sheet  = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	ink    = color.RGBA{R: 0x24, G: 0x29, B: 0x2e, A: 0xff}
	faint  = color.RGBA{R: 0x6e, G: 0x73, B: 0x79, A: 0xff}
	border = color.RGBA{R: 0xdd, G: 0xde, B: 0xe0, A: 0xff}
	grids  = color.RGBA{R: 0xec, G: 0xed, B: 0xee, A: 0xff}
	// named are Grafana's names of colors.
	named = map[string]color.Color{
		"green": color.RGBA{R: 0x1a, G: 0x7f, B: 0x4b, A: 0xff}, "red": color.RGBA{R: 0xd1, G: 0x1f, B: 0x3a, A: 0xff},
	}
	// lines are the colors of series, in turn.
	lines = []color.Color{
		color.RGBA{R: 0x3d, G: 0x85, B: 0x3a, A: 0xff},
		color.RGBA{R: 0xe0, G: 0x9a, B: 0x00, A: 0xff},
		color.RGBA{R: 0x32, G: 0x74, B: 0xd9, A: 0xff},
		color.RGBA{R: 0xd9, G: 0x5f, B: 0x0e, A: 0xff},
		color.RGBA{R: 0xc4, G: 0x16, B: 0x2a, A: 0xff},
		color.RGBA{R: 0x8f, G: 0x3b, B: 0xb8, A: 0xff},
		color.RGBA{R: 0x1a, G: 0x9e, B: 0xa8, A: 0xff},
		color.RGBA{R: 0x7a, G: 0x5c, B: 0x3e, A: 0xff},
		color.RGBA{R: 0xd6, G: 0x53, B: 0x9c, A: 0xff},
		color.RGBA{R: 0x70, G: 0x70, B: 0x70, A: 0xff},
	}
)

// PNG draws a dashboard, which is Grafana's JSON. Below its title is what the picture shows.
func PNG(text []byte, about string, w Window, ask Ask) ([]byte, error) {
	d, err := read(text, ask)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, fewColors(d.draw(about, w))); err != nil {
		return nil, fmt.Errorf("encode the picture of %s: %w", d.Title, err)
	}
	return out.Bytes(), nil
}

// draw draws all panels.
func (d *dashboard) draw(about string, w Window) image.Image {
	width, height := d.size()
	picture := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	c := draw.New(picture)
	write(c, d.Title, 17, ink, vg.Point{X: pad, Y: height - 18}, draw.XLeft)
	write(c, about, small, faint, vg.Point{X: pad, Y: height - 35}, draw.XLeft)
	for _, p := range d.Panels {
		at := p.Place.within(height)
		area := draw.Canvas{Canvas: c.Canvas, Rectangle: at}
		if p.Type == "row" {
			write(area, p.Title, 14, ink, vg.Point{X: at.Min.X + pad, Y: at.Min.Y + at.Size().Y/2}, draw.XLeft)
			continue
		}
		p.draw(area, w)
	}
	return picture.Image()
}

// size is that of the whole picture.
func (d *dashboard) size() (width, height vg.Length) {
	rows := 0
	for _, p := range d.Panels {
		rows = max(rows, p.Place.Y+p.Place.H)
	}
	return columns * cellWidth, vg.Length(rows)*cellHeight + header + gap
}

// within is a place in a picture of that height, whose origin is at the bottom left.
func (p place) within(height vg.Length) vg.Rectangle {
	left, top := vg.Length(p.X)*cellWidth, height-header-vg.Length(p.Y)*cellHeight
	return vg.Rectangle{
		Min: vg.Point{X: left + gap, Y: top - vg.Length(p.H)*cellHeight + gap},
		Max: vg.Point{X: left + vg.Length(p.W)*cellWidth - gap, Y: top - gap},
	}
}

// draw draws one panel with its title.
func (p *panel) draw(c draw.Canvas, w Window) {
	fill(c, c.Rectangle, sheet)
	c.StrokeLines(draw.LineStyle{Color: border, Width: 1}, []vg.Point{
		c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min,
	})
	write(c, p.Title, 12, ink, vg.Point{X: c.Min.X + pad, Y: c.Max.Y - 13}, draw.XLeft)
	inner := draw.Crop(c, pad, -pad, pad, -24)
	drawn := false
	switch p.Type {
	case "stat":
		drawn = p.drawStat(inner, w)
	case "table":
		drawn = p.drawTable(inner, w)
	default:
		drawn = p.drawGraph(inner, w)
	}
	if !drawn {
		write(inner, "No data", 13, faint, inner.Center(), draw.XCenter)
	}
}

func fill(c draw.Canvas, r vg.Rectangle, with color.Color) {
	c.SetColor(with)
	c.Fill(r.Path())
}

// style is how text of a size and color is written.
func style(size vg.Length, with color.Color, align draw.XAlignment) draw.TextStyle {
	return draw.TextStyle{
		Color: with, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: align, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
	}
}

func write(c draw.Canvas, text string, size vg.Length, with color.Color, at vg.Point, align draw.XAlignment) {
	if text != "" {
		c.FillText(style(size, with, align), at, text)
	}
}

// colorOf is the color that the thresholds give a number.
func (p *panel) colorOf(v float64) color.Color {
	chosen := named["green"]
	for _, t := range p.Config.Defaults.Thresholds.Steps {
		if t.Value == nil || v >= *t.Value {
			chosen = named[t.Color]
		}
	}
	return chosen
}
