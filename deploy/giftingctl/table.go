package giftingctl

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// columnGap is how many spaces are between two columns.
const columnGap = 2

// joiners connect letters and emojis. They are the only characters without a width that a text may need.
const joiners = "\u200c\u200d"

// controls reports that a character could move the cursor, colour or hide text, or turn its direction. Texts come from tenants and
// players.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && !strings.ContainsRune(joiners, r)
}

// visible writes characters that control a terminal as escapes, such as \x1b. Line breaks stay.
func visible(text string) string {
	var shown strings.Builder
	for at, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)):
			fmt.Fprintf(&shown, `\x%02x`, text[at])
		case r == '\n' || !controls(r):
			shown.WriteRune(r)
		case r <= unicode.MaxASCII:
			fmt.Fprintf(&shown, `\x%02x`, r)
		default:
			fmt.Fprintf(&shown, `\u%04x`, r)
		}
	}
	return shown.String()
}

// cell is a value in one line of a table.
func cell(text string) string {
	return visible(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text))
}

// escapeJSON writes characters of JSON that control a terminal as escapes. Those of ASCII already are.
func escapeJSON(raw []byte) string {
	var escaped strings.Builder
	for _, r := range string(raw) {
		if r < unicode.MaxASCII || !controls(r) {
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	return escaped.String()
}

// cells is how many columns of a terminal a text fills.
func cells(text string) int {
	count := 0
	for _, r := range text {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me) || strings.ContainsRune(joiners, r):
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
