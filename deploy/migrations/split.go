package migrations

import (
	"regexp"
	"strings"
)

var (
	down = regexp.MustCompile(`(?m)^\s*--\s*\+goose\s+Down\b`)
	// literal is what may hold a semicolon or a comma that separates nothing: the body of a function, and a text.
	literal = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$\w*\$|'(?:[^']|'')*'`)
	comment = regexp.MustCompile(`(?m)--.*$`)
)

// split gives the statements of the way up.
func split(text string) []statement {
	if at := down.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	// An apostrophe in a comment begins no text.
	text = comment.ReplaceAllStringFunc(text, func(c string) string { return strings.ReplaceAll(c, "'", "") })
	text = literal.ReplaceAllString(text, "''")
	// A semicolon in a comment ends no statement.
	text = comment.ReplaceAllStringFunc(text, func(c string) string { return strings.ReplaceAll(c, ";", "") })
	var out []statement
	for part := range strings.SplitSeq(text, ";") {
		sql := strings.TrimSpace(comment.ReplaceAllString(part, ""))
		if sql != "" {
			out = append(out, statement{sql: sql, excused: contract.MatchString(part)})
		}
	}
	return out
}

// topLevel gives the parts that commas outside of brackets separate.
func topLevel(text string) []string {
	var parts []string
	depth, begin := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[begin:i]))
				begin = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[begin:]))
}
