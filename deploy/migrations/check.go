package migrations

import (
	"fmt"
	"regexp"
	"strings"
)

// rule refuses statements, or parts of an ALTER TABLE, that match it.
type rule struct {
	match *regexp.Regexp
	// unless exempts what it matches, if it is set.
	unless *regexp.Regexp
	why    string
}

func refuse(pattern, unless, why string) rule {
	r := rule{match: regexp.MustCompile(`(?is)` + pattern), why: why}
	if unless != "" {
		r.unless = regexp.MustCompile(`(?is)` + unless)
	}
	return r
}

// ownValues matches what gives each row a value of its own.
const ownValues = `\bDEFAULT\s+(gen_random_uuid|uuidv7|random|clock_timestamp|nextval)\b|` +
	`\b(small|big)?serial\b|\bSTORED\b|\bAS\s+IDENTITY\b`

var (
	statementRules = []rule{
		refuse(`^DROP\s+(TABLE|TYPE|VIEW|MATERIALIZED|FUNCTION|PROCEDURE|SCHEMA|SEQUENCE|DOMAIN)\b`, "",
			"removes what the previous version may use"),
		refuse(`^ALTER\s+(TYPE|VIEW|FUNCTION|SCHEMA|SEQUENCE|DOMAIN|INDEX)\b.*\bRENAME\b`, "",
			"renames what the previous version may use"),
		refuse(`^ALTER\s+TYPE\b`, `\b(ADD\s+VALUE|RENAME)\b`, "changes a type that the previous version may use"),
		refuse(`^TRUNCATE\b`, "", "empties a table"),
		refuse(`^(UPDATE|DELETE\s+FROM)\b`, "", "changes rows, which takes long in a large table"),
		refuse(`^CREATE\s+(UNIQUE\s+)?INDEX\b`, `\bCONCURRENTLY\b`, "blocks writes while the index is made"),
	}
	actionRules = []rule{
		refuse(`^RENAME\b`, "", "renames what the previous version may use"),
		refuse(`^DROP\s+(COLUMN\b|(IF\s+EXISTS\s+)?\w+$)`, `^DROP\s+(CONSTRAINT|IDENTITY)\b`,
			"removes what the previous version may use"),
		refuse(`^ALTER\s+(COLUMN\s+)?\S+\s+(SET\s+DATA\s+)?TYPE\b`, "",
			"rewrites the table and changes a type that the previous version may use"),
		refuse(`^ALTER\s+(COLUMN\s+)?\S+\s+SET\s+NOT\s+NULL\b`, "",
			"breaks inserts of the previous version, which does not set the column"),
		refuse(`^ALTER\s+(COLUMN\s+)?\S+\s+DROP\s+DEFAULT\b`, "",
			"breaks inserts of the previous version, which does not set the column"),
		refuse(`^ADD\s+(COLUMN\s+)?.*\bNOT\s+NULL\b`, `\bDEFAULT\b|^ADD\s+(CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b`,
			"breaks inserts of the previous version, which does not set the column"),
		refuse(`^ADD\s+(COLUMN\s+)?.*(`+ownValues+`)`, "", "rewrites the table to give each row its own value"),
		refuse(`^ADD\s+(CONSTRAINT\s+\S+\s+)?(CHECK|FOREIGN\s+KEY)\b`, `\bNOT\s+VALID\b`, "reads every row under a lock"),
		refuse(`^ADD\s+(CONSTRAINT\s+\S+\s+)?(UNIQUE|PRIMARY\s+KEY|EXCLUDE)\b`, `\bUSING\s+INDEX\b`,
			"blocks writes while the index is made"),
	}

	contract     = regexp.MustCompile(`(?m)^\s*--[ \t]*contract:[ \t]*\S`)
	noTx         = regexp.MustCompile(`(?m)^\s*--\s*\+goose\s+NO\s+TRANSACTION\b`)
	concurrently = regexp.MustCompile(`(?is)^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w."]+)`)
	dropsIndex   = regexp.MustCompile(`(?is)^DROP\s+INDEX\s+CONCURRENTLY\s+IF\s+EXISTS\s+([\w."]+)$`)
	creates      = regexp.MustCompile(`(?is)^CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w."]+)`)
	alters       = regexp.MustCompile(`(?is)^ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?([\w."]+)\s+(.*)$`)
	touches      = regexp.MustCompile(`(?is)^(?:UPDATE|DELETE\s+FROM|CREATE\s+(?:UNIQUE\s+)?INDEX\b.*?\bON|TRUNCATE(?:\s+TABLE)?)` +
		`\s+(?:ONLY\s+)?([\w."]+)`)
)

// Check returns the statements of a migration that break the rule, with the reasons.
func Check(text string) []string {
	var wrong []string
	own := map[string]bool{}     // The tables that this file creates.
	dropped := map[string]bool{} // The indexes that it has dropped.
	var altered string           // An existing table that it alters.
	for _, s := range split(text) {
		if made := creates.FindStringSubmatch(s.sql); made != nil {
			own[made[1]] = true
		}
		if drop := dropsIndex.FindStringSubmatch(s.sql); drop != nil {
			dropped[drop[1]] = true
		}
		if s.excused || own[tableOf(s.sql)] {
			continue
		}
		wrong = append(wrong, s.violations()...)
		if alter := alters.FindStringSubmatch(s.sql); alter != nil {
			if altered != "" && altered != alter[1] {
				wrong = append(wrong, s.firstLine()+": may deadlock with the previous version, as it locks a second table: use another file")
			}
			altered = alter[1]
		}
		if built := concurrently.FindStringSubmatch(s.sql); built != nil {
			if !noTx.MatchString(text) {
				wrong = append(wrong, s.firstLine()+": CONCURRENTLY needs `-- +goose NO TRANSACTION`")
			}
			if !dropped[built[1]] {
				wrong = append(wrong, fmt.Sprintf("%s: fails after an interrupted build: begin with DROP INDEX CONCURRENTLY IF EXISTS %s",
					s.firstLine(), built[1]))
			}
		}
	}
	return wrong
}

func tableOf(sql string) string {
	for _, form := range []*regexp.Regexp{alters, touches} {
		if found := form.FindStringSubmatch(sql); found != nil {
			return found[1]
		}
	}
	return ""
}

// statement is a statement of a migration, without comments, texts and the bodies of functions.
type statement struct {
	sql string
	// excused means that a comment says why it is safe.
	excused bool
}

func (s statement) firstLine() string {
	line, _, _ := strings.Cut(s.sql, "\n")
	return strings.TrimSpace(line)
}

func (s statement) violations() []string {
	parts, rules := []string{s.sql}, statementRules
	if alter := alters.FindStringSubmatch(s.sql); alter != nil {
		parts, rules = splitActions(alter[2]), actionRules
	}
	var wrong []string
	for _, part := range parts {
		for _, r := range rules {
			if r.match.MatchString(part) && (r.unless == nil || !r.unless.MatchString(part)) {
				wrong = append(wrong, fmt.Sprintf("%s: %s", strings.Join(strings.Fields(part), " "), r.why))
			}
		}
	}
	return wrong
}

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

// splitActions splits the actions of an ALTER TABLE, at the commas outside of brackets.
func splitActions(text string) []string {
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
