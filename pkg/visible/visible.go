// Package visible makes the texts of tenants and players safe to print: no character of them controls a terminal.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// joiners connect letters and emojis. They are the only characters without a width that a text may need.
const joiners = "\u200c\u200d"

// controls reports that a character could move the cursor, colour or hide text, or turn its direction.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && !strings.ContainsRune(joiners, r)
}

// Text writes characters that control a terminal as escapes, such as \x1b. Line breaks stay.
func Text(text string) string {
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

// Line is like Text, and keeps the text in one line.
func Line(text string) string { return strings.ReplaceAll(Text(text), "\n", `\n`) }

// JSON writes characters of JSON that control a terminal as escapes. Those of ASCII already are, except DEL.
func JSON(raw []byte) string {
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
