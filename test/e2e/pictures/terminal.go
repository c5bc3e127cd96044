package pictures

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// What a terminal's text is drawn with, in points.
const (
	letter     = vg.Length(13)
	lineHeight = vg.Length(18)
	margin     = vg.Length(16)
)

// Terminal draws commands, which follow a dollar, and what they have printed, as a terminal shows it.
func Terminal(text string) ([]byte, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	longest := 0
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(line))
	}
	width := vg.Length(longest)*mono(false).Width("m") + 2*margin
	height := vg.Length(len(lines))*lineHeight + 2*margin
	picture := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(sheet))
	c := draw.New(picture)
	c.StrokeLines(draw.LineStyle{Color: border, Width: 1}, []vg.Point{
		c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min,
	})
	for i, line := range lines {
		if line == "" {
			continue
		}
		at := vg.Point{X: margin, Y: height - margin - (vg.Length(i)+0.5)*lineHeight}
		c.FillText(mono(strings.HasPrefix(line, "$ ")), at, line)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, fewColors(picture.Image())); err != nil {
		return nil, fmt.Errorf("encode the picture of a terminal: %w", err)
	}
	return out.Bytes(), nil
}

// mono is how a terminal's text is written: what somebody has typed in bold.
func mono(typed bool) draw.TextStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Mono"}
	if typed {
		f.Weight = 3 // bold
	}
	return draw.TextStyle{Color: ink, Font: font.From(f, letter), YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
}
