// Command configuration writes the reference of all settings to its standard output.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/settings"
)

func main() { _, _ = os.Stdout.WriteString(reference()) } // `make` sees an incomplete file.

const introduction = `# Configuration

` + "`make configuration`" + ` writes this page from the code. ` + "`make lint`" + ` checks that it is up to date.

Each program reads its environment when it starts. If variables are invalid or missing, it reports all of them and exits. For
unknown variables with the prefix ` + "`GIFTING_`" + ` it logs a warning. An empty variable counts as not set. Write durations
as ` + "`500ms`, `90s` or `24h`" + `. Keep the variables marked as secret in a secret store. No error message shows their values.
The standard variables of OpenTelemetry, ` + "`OTEL_…`" + `, configure telemetry.
`

// reference is the text of the document.
func reference() string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, p := range programs.All() {
		fmt.Fprintf(&b, "\n## %s\n\n| variable | default | value | meaning |\n| --- | --- | --- | --- |\n", p.Name)
		for _, f := range p.Fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Variable, fallback(f), cell(value(f)), cell(f.Doc))
		}
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
