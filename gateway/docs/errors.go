package docs

import (
	_ "embed"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/problem"
)

const errorsName = "errors"

//go:embed errors.yaml
var errorTexts []byte

// errorsMarkdown shows every code of the registry, in its order.
func errorsMarkdown() (string, error) {
	var texts struct {
		Codes map[problem.Code]struct{ Cause, Remedy string }
		// Fields keeps the order of its members.
		Fields yaml.Node
	}
	if err := yaml.Unmarshal(errorTexts, &texts); err != nil {
		return "", fmt.Errorf("errors.yaml: %w", err)
	}
	var b strings.Builder
	b.WriteString(errorsIntroduction)
	for _, info := range problem.Registry() {
		text := texts.Codes[info.Code]
		fmt.Fprintf(&b, "\n### %s {#%s}\n\n`%s`, status %d\n\n**Cause.** %s\n\n**Remedy.** %s\n",
			info.Title, info.Code, info.Code, info.Status, strings.TrimSpace(text.Cause), strings.TrimSpace(text.Remedy))
	}
	b.WriteString(fieldsIntroduction)
	for i := 0; i+1 < len(texts.Fields.Content); i += 2 {
		code, text := texts.Fields.Content[i].Value, texts.Fields.Content[i+1].Value
		fmt.Fprintf(&b, "\n### %s {#field-%s}\n\n%s\n", "`"+code+"`", code, strings.TrimSpace(text))
	}
	return b.String(), nil
}

const errorsIntroduction = `# Errors

Cause and remedy of every error code of the Partner Gifting API.

An error is a problem document (` + "`application/problem+json`" + `). Branch on its ` + "`code`" + `. New codes may be added.
Existing codes do not change. If several codes of status 422 or 409 apply to a request, the first in the order of this page is
returned. Quote ` + "`instance`" + ` when you ask about an error. What a client does with them is in
[Errors and retries](errors-guide.md).

## Codes {#codes}
`

const fieldsIntroduction = `
## Field codes {#field-codes}

Each entry of ` + "`errors[]`" + ` is ` + "`{field, code, message}`" + `. All invalid fields of a request are listed together.
`
