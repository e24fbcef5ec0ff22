package fields

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/partnergifting/platform/pkg/problem"
)

// Blank reports whether nothing of s can be seen. Such a text counts as empty. Control characters other than white space are not
// blank: they are invalid.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !invisible(r) })
}

// brailleBlank is the one character that shows nothing and that Unicode counts as a symbol.
const brailleBlank = '\u2800'

// invisible reports whether a character alone shows nothing: white space, format characters, and what Unicode lets a font
// ignore, such as the fillers of Hangul.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == brailleBlank ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Optional returns the value, nil for a blank one.
func Optional(value *string) *string {
	if value == nil || Blank(*value) {
		return nil
	}
	return value
}

// UnlessBlank returns the value, empty for a blank one.
func UnlessBlank(value string) string {
	if Blank(value) {
		return ""
	}
	return value
}

// Required is Line for a text that must not be blank.
func (e *Errors) Required(field, value string, limit int) {
	e.require(field, value)
	e.Line(field, value, limit)
}

// RequiredText is Text for a text that must not be blank.
func (e *Errors) RequiredText(field, value string, limit int) {
	e.require(field, value)
	e.Text(field, value, limit)
}

func (e *Errors) require(field, value string) {
	if Blank(value) {
		e.Add(field, problem.FieldRequired, "is required")
	}
}

// Line checks a text of one line, such as a name or a reference. A limit counts Unicode code points. A blank text has no errors,
// because it counts as empty: the caller must not store it.
func (e *Errors) Line(field, value string, limit int) {
	e.text(field, value, limit, forbiddenInLine,
		"must be one line without control characters and without bidirectional embeddings and overrides")
}

// Text is Line for a text of several lines, such as a message.
func (e *Errors) Text(field, value string, limit int) {
	e.text(field, value, limit, forbiddenInText, "must have no control characters other than line breaks and tabs")
}

func (e *Errors) text(field, value string, limit int, refused func(rune) bool, message string) {
	switch {
	case Blank(value):
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		e.Add(field, problem.FieldInvalid, "must be valid text without NUL characters")
	case utf8.RuneCountInString(value) > limit:
		e.Add(field, problem.FieldTooLong, "is longer than allowed")
	case strings.ContainsFunc(value, refused):
		e.Add(field, problem.FieldInvalid, message)
	}
}

// forbiddenInLine includes the characters that reorder the text around a name. Joiners and direction marks are allowed: names need
// them.
func forbiddenInLine(r rune) bool { return unicode.IsControl(r) || '\u202A' <= r && r <= '\u202E' }

func forbiddenInText(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\r\n\t", r) }

// joiners connect letters and emojis. They are the only characters without a width that a text may need.
const joiners = "\u200c\u200d"

// controls reports that a character could move the cursor, colour or hide text, or turn its direction.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && !strings.ContainsRune(joiners, r)
}

// VisibleLine makes a text of a tenant or a player safe to print in one line: it writes line breaks and characters that control a
// terminal as escapes, such as \x1b.
func VisibleLine(text string) string {
	var shown strings.Builder
	for at, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)):
			fmt.Fprintf(&shown, `\x%02x`, text[at])
		case r == '\n':
			shown.WriteString(`\n`)
		case !controls(r):
			shown.WriteRune(r)
		case r <= unicode.MaxASCII:
			fmt.Fprintf(&shown, `\x%02x`, r)
		default:
			fmt.Fprintf(&shown, `\u%04x`, r)
		}
	}
	return shown.String()
}

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

// NFCVariations returns the values by dimension in Unicode normalization form C, in which texts that look the same are the same
// choice.
func NFCVariations(choice map[string]string) map[string]string {
	out := make(map[string]string, len(choice))
	for dimension, value := range choice {
		out[norm.NFC.String(dimension)] = norm.NFC.String(value)
	}
	return out
}

// OfferedVariation returns which of the values of a dimension is chosen, as it is written in values. chosen has values by
// dimension, both in form C.
func OfferedVariation(dimension string, values []string, chosen map[string]string) (value string, ok bool) {
	value, ok = chosen[norm.NFC.String(dimension)]
	at := slices.IndexFunc(values, func(offered string) bool { return norm.NFC.String(offered) == value })
	if !ok || at < 0 {
		return "", false
	}
	return values[at], true
}
