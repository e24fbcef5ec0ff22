package migrations

import (
	"regexp"
	"strings"
)

var (
	down = regexp.MustCompile(`(?m)^\s*--\s*\+goose\s+Down\b`)
	// literal matches bodies of functions and texts, in which semicolons and commas separate nothing.
	literal = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$\w*\$|'(?:[^']|'')*'`)
	comment = regexp.MustCompile(`(?m)--.*$`)
)

// split returns the statements of the Up part.
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

// topLevel splits a text at the commas outside of brackets.
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
