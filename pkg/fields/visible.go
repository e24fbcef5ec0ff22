package fields

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

// VisibleText makes a text of a tenant or a player safe to print: it writes characters that control a terminal as escapes, such as \x1b. Line breaks stay.
func VisibleText(text string) string {
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

// VisibleLine is like VisibleText, and keeps the text in one line.
func VisibleLine(text string) string { return strings.ReplaceAll(VisibleText(text), "\n", `\n`) }

// VisibleJSON writes characters of JSON that control a terminal as escapes. Those of ASCII already are, except DEL.
func VisibleJSON(raw []byte) string {
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
