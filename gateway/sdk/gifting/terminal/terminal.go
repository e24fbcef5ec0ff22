// Package terminal is what the command lines of integrators and of operators have in common: how they run a command, and print
// texts that come from other people, as tables, lines and JSON.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// joiners connect letters and emojis. They are the only characters without a width that a text may need.
const joiners = "\u200c\u200d"

// controls reports that a character could move the cursor, colour or hide text, or turn its direction.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && !strings.ContainsRune(joiners, r)
}

// Visible writes characters that control a terminal as escapes of JSON. Line breaks stay.
func Visible(text string) string {
	var shown strings.Builder
	for _, r := range strings.ToValidUTF8(text, string(utf8.RuneError)) {
		if r == '\n' || !controls(r) {
			shown.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&shown, `\u%04x`, unit)
		}
	}
	return shown.String()
}

// JSON prints a value for people and programs.
func JSON(to io.Writer, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return Indented(to, raw)
}

// Indented prints JSON for people and programs.
func Indented(to io.Writer, raw []byte) error {
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(to, Visible(indented.String()))
	return err
}

// JSONLine prints a value as one line of JSON.
func JSONLine(to io.Writer, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to, Visible(string(raw)))
	return err
}

// columnGap is how many spaces are between two columns.
const columnGap = 2

// Table prints rows in aligned columns, the names of the columns first unless there are none.
func Table(to io.Writer, names []string, rows [][]string) error {
	if names != nil {
		rows = append([][]string{strings.Split(strings.ToUpper(strings.Join(names, "\t")), "\t")}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = Visible(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text))
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

// cells is how many columns of a terminal a text fills.
func cells(text string) int {
	count := 0
	for _, r := range text {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // Of the last, a visible text has only joiners.
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			count += 2
		default:
			count++
		}
	}
	return count
}

// Record prints the members of a record, one a line, those of records inside it with their path. Members without a value are left
// out.
func Record(to io.Writer, value any) error {
	all, err := Members(value)
	if err != nil {
		return err
	}
	rows := make([][]string, len(all))
	for i, m := range all {
		rows[i] = []string{m.Path, fmt.Sprint(m.Value)}
	}
	return Table(to, nil, rows)
}

// Member is a text, number or boolean of a record, with its path.
type Member struct {
	Path  string
	Value json.Token
}

// Members returns all that have a value, in the order in which they are written as JSON.
func Members(record any) ([]Member, error) {
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return members(decoder, "", nil)
}

// members reads one value and appends its members.
func members(decoder *json.Decoder, path string, rows []Member) ([]Member, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	opening, nested := token.(json.Delim)
	if !nested {
		if token != nil {
			rows = append(rows, Member{path, token})
		}
		return rows, nil
	}
	for i := 0; decoder.More(); i++ {
		inner := fmt.Sprintf("%s[%d]", path, i)
		if opening == '{' {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			inner = strings.TrimPrefix(fmt.Sprintf("%s.%v", path, name), ".")
		}
		if rows, err = members(decoder, inner, rows); err != nil {
			return nil, err
		}
	}
	_, err = decoder.Token() // The closing one.
	return rows, err
}
