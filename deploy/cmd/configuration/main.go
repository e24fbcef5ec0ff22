// Command configuration writes the reference of all settings to its standard output, or with the argument json the types of
// their values, against which the Helm chart checks its own.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/settings"
)

func main() {
	text := reference()
	if len(os.Args) > 1 && os.Args[1] == "json" {
		text = schemas()
	}
	_, _ = os.Stdout.WriteString(text) // `make lint` finds an incomplete file.
}

// schemas is a JSON object of the settings of each program that are not secret.
func schemas() string {
	all := map[string]map[string]settings.Schema{}
	for _, p := range programs.All() {
		all[string(p.Name)] = map[string]settings.Schema{}
		for _, f := range p.Fields {
			if !f.Secret {
				all[string(p.Name)][f.Variable] = f.Schema()
			}
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		panic(err) // The types have no values that JSON lacks.
	}
	return string(text) + "\n"
}

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
