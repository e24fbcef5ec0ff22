package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/settings"
)

// order is that of the document.
var order = []string{"gateway", "tenants", "catalog", "orders", "personal-links", "events", "webhook"}

const introduction = `# Configuration

Written by ` + "`make configuration`" + ` from the code, which ` + "`make lint`" + ` holds it against.

Each program reads its environment when it starts. It tells everything that is wrong with it at once, naming the
variables, and ends; variables with the prefix ` + "`GIFTING_`" + ` that it does not know it names in a warning. A variable that
is empty counts as not set. Durations are written as ` + "`500ms`, `90s` or `24h`" + `. What is marked as secret belongs into a
secret and is repeated in no fault. Telemetry is sent where the standard variables of OpenTelemetry, ` + "`OTEL_…`" + `, say.
`

var errOrder = errors.New("the order of the document does not name all programs")

// reference is the document.
func reference(all map[string]programs.Program) (string, error) {
	if len(all) != len(order) {
		return "", errOrder
	}
	var b strings.Builder
	b.WriteString(introduction)
	for _, name := range order {
		b.WriteString(section(all[name]))
	}
	return b.String(), nil
}

func section(p programs.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n| variable | default | value | meaning |\n| --- | --- | --- | --- |\n", p.Name)
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Variable, fallback(f), cell(value(f)), cell(f.Doc))
	}
	return b.String()
}

func fallback(f settings.Field) string {
	switch {
	case f.Required:
		return "**required**"
	case f.Default == "":
		return ""
	default:
		return "`" + cell(f.Default) + "`"
	}
}

func value(f settings.Field) string {
	if f.Secret {
		return f.Format + "; **secret**"
	}
	return f.Format
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
