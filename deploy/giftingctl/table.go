package giftingctl

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/partnergifting/platform/pkg/fields"
)

// columnGap is how many spaces are between two columns.
const columnGap = 2

// cell is a value in one line of a table.
func cell(text string) string {
	return fields.VisibleText(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text))
}

// cells is how many columns of a terminal a text fills.
func cells(text string) int {
	count := 0
	for _, r := range text {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // Of the last, a cell has only joiners.
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			count += 2
		default:
			count++
		}
	}
	return count
}

// printTable prints rows in aligned columns.
func printTable(to io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = cell(text)
			widths[i] = max(widths[i], cells(row[i]))
		}
	}
	var table strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			line.WriteString(text + strings.Repeat(" ", widths[i]-cells(text)+columnGap))
		}
		table.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(to, table.String())
	return err
}
