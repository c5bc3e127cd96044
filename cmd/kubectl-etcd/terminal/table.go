package terminal

import (
	"strings"
	"unicode/utf8"
)

// shortest is how short a cell may be cut.
const shortest = 12

// Table lines the cells of rows up, two columns apart; the first row is the head. Where rows are wider than a terminal, the cells of the
// given columns are cut, those of the first one first: a domain that all of them share goes, and then the middle, for names of nodes
// differ at their beginnings or at their ends.
func Table(rows [][]string, cut ...int) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			out[i] = append(out[i], Clean(cell))
		}
	}
	for _, column := range cut {
		if len(out) > 1 && excess(widthsOf(out)) > 0 {
			homely(out[1:], column)
		}
	}
	widths := widthsOf(out)
	for _, column := range cut {
		if more := excess(widths); more > 0 {
			widths[column] = min(widths[column], max(shortest, widths[column]-more))
		}
	}
	for _, row := range out {
		for i, cell := range row {
			cell = short(cell, widths[i])
			row[i] = cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		}
	}
	return out
}

// excess is by how many columns rows are too wide.
func excess(widths []int) int {
	total := 2 * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	return total - Columns
}

// homely leaves out a domain that all names of a column share.
func homely(rows [][]string, column int) {
	_, domain, _ := strings.Cut(rows[0][column], ".")
	for _, row := range rows {
		if _, other, _ := strings.Cut(row[column], "."); other != domain || domain == "" {
			return
		}
	}
	for _, row := range rows {
		row[column] = strings.TrimSuffix(row[column], "."+domain) + "…"
	}
}

func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// short is a text in so many columns, without its middle if it is longer.
func short(text string, columns int) string {
	all := []rune(text)
	if len(all) <= columns {
		return text
	}
	end := (columns - 1) / 2
	return string(all[:columns-1-end]) + "…" + string(all[len(all)-end:])
}
