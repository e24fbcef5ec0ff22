package conformance

import (
	"fmt"
	"io"
	"strings"
)

const preface = `# What the API promises, and what shows it

Written by ` + "`make promises`" + ` from ` + "`conformance/promises.txt`" + ` and the source of the tests. ` + "`make conformance`" + ` holds
a platform that runs to those of ` + "`deploy/e2e`" + `.
`

// Document writes every promise with its tests, by section.
func Document(to io.Writer, sections []Section, shown map[string][]Test) error {
	var b strings.Builder
	b.WriteString(preface)
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| | promise | test |\n| --- | --- | --- |\n", section.Title)
		for _, promise := range section.Promises {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", promise.ID, promise.Words, cell(section, promise, shown[promise.ID]))
		}
	}
	if _, err := io.WriteString(to, b.String()); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// cell names the tests; the one that bears the promise's words needs no repeating of them.
func cell(section Section, promise Promise, tests []Test) string {
	own := section.suite(promise).String()
	var names []string
	for _, test := range tests {
		name := test.String()
		if name == own {
			name = strings.TrimSuffix(name, separator+promise.Words)
		}
		names = append(names, "`"+name+"`")
	}
	return strings.Join(names, "<br>")
}
