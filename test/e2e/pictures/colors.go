package pictures

import (
	"cmp"
	"image"
	"image/color"
	"maps"
	"slices"
)

// fewColors is the same picture in its 256 most frequent colors, as which it takes a third of the space.
func fewColors(picture image.Image) *image.Paletted {
	bounds := picture.Bounds()
	count := map[color.RGBA]int{}
	each(bounds, func(x, y int) { count[at(picture, x, y)]++ })
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c)) // #nosec G115 -- there are 256
	}
	few := image.NewPaletted(bounds, palette)
	each(bounds, func(x, y int) { few.SetColorIndex(x, y, nearest[at(picture, x, y)]) })
	return few
}

func each(bounds image.Rectangle, call func(x, y int)) {
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			call(x, y)
		}
	}
}

// at is the color of a point, all of which are opaque.
func at(picture image.Image, x, y int) color.RGBA {
	r, g, b, _ := picture.At(x, y).RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 0xff} // #nosec G115 -- they have 16 bits
}
