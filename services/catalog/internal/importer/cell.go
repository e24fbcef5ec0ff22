package importer

import "strings"

const escape = '\\'

// split divides a cell at each separator without a backslash before it. It keeps the backslashes for
// deeper levels. A blank cell has no entries.
func split(cell string, separator byte) []string {
	if strings.TrimSpace(cell) == "" {
		return nil
	}
	var entries []string
	start := 0
	for i := 0; i < len(cell); i++ {
		switch cell[i] {
		case escape:
			i++
		case separator:
			entries = append(entries, cell[start:i])
			start = i + 1
		}
	}
	return append(entries, cell[start:])
}

// text removes the backslashes of an entry and the space around it.
func text(g *gift, field, entry string) string {
	entry = strings.TrimSpace(entry)
	if strings.IndexByte(entry, escape) < 0 {
		return entry
	}
	var b strings.Builder
	for i := 0; i < len(entry); i++ {
		if entry[i] == escape {
			i++
			if i == len(entry) || strings.IndexByte(`;|=\`, entry[i]) < 0 {
				g.invalid(field, `a backslash must precede one of ; | = \`)
				return entry
			}
		}
		b.WriteByte(entry[i])
	}
	return b.String()
}
