package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// The files of samples are programs that call each operation with the SDK of their language. Tests of the SDKs run them. The
// documentation shows the lines between "// sample: placeOrder" and "// end" (in Python #) with the operation of that name, or
// where a guide asks for them.
//
//go:embed samples
var sampleFiles embed.FS

// languages of samples, in the order in which they are shown. Suffix is that of the names of their files.
var languages = []struct{ Folder, Suffix, Language, Label string }{
	{"typescript", ".ts", "typescript", "TypeScript"},
	{"python", ".py", "python", "Python"},
	{"go", ".go", "go", "Go"},
}

// sample is how an operation is called in a language.
type sample struct {
	Language string `json:"lang" yaml:"lang"`
	Label    string `json:"label" yaml:"label"`
	Source   string `json:"source" yaml:"source"`
}

// region is a part of a file between two comments: // sample: placeOrder and // end.
var region = regexp.MustCompile(`(?ms)^([ \t]*)(?://|#) sample: (\w+)\n(.*?)^[ \t]*(?://|#) end$`)

// ownSamples are those that this package carries.
func ownSamples() (map[string][]sample, error) {
	folder, err := fs.Sub(sampleFiles, "samples")
	if err != nil {
		return nil, err
	}
	return readSamples(folder)
}

// readSamples reads the regions of all files, by the names of operations.
func readSamples(files fs.FS) (map[string][]sample, error) {
	found := map[string][]sample{}
	for _, l := range languages {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasPrefix(name, l.Folder+"/") || path.Ext(name) != l.Suffix {
				return err
			}
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			for _, m := range region.FindAllStringSubmatch(string(content), -1) {
				indent, operation, source := m[1], m[2], m[3]
				for _, other := range found[operation] {
					if other.Label == l.Label {
						return fmt.Errorf("%s: there is another sample of %s", name, operation)
					}
				}
				found[operation] = append(found[operation], sample{l.Language, l.Label, outdent(source, indent)})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("samples: %w", err)
		}
	}
	return found, nil
}

// outdent removes the indentation of the comments from the lines between them.
func outdent(source, indent string) string {
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(lines, "\n")
}

// withSamples marks a shell command of a guide that calls an operation: <!-- samples: placeOrder -->.
var withSamples = regexp.MustCompile("(?s)<!-- samples: (\\w+) -->\n((?:<!-- not run: [^\n]* -->\n)?```sh\n.*?\n```\n)")

// addSamples adds the samples of the SDKs to the marked commands of a guide.
func (b *builder) addSamples(markdown string) string {
	return withSamples.ReplaceAllStringFunc(markdown, func(found string) string {
		m := withSamples.FindStringSubmatch(found)
		blocks := m[2]
		for _, s := range b.samples[m[1]] {
			blocks += "\n```" + s.Language + "\n" + s.Source + "\n```\n"
		}
		return blocks
	})
}

// samplesOf are the samples of an operation: curl, and each language that has one.
func (b *builder) samplesOf(op operation) ([]sample, error) {
	shell, err := curl(op)
	if err != nil {
		return nil, err
	}
	return append([]sample{{"shell", "curl", shell}}, b.samples[op.ID()]...), nil
}

// curl is a sample of an operation, made from the examples of the document. What belongs to the reader's tenant is a variable of
// the shell, named after its member: brandId is $BRAND_ID.
func curl(op operation) (string, error) {
	var b strings.Builder
	b.WriteString(`curl -s "$GIFTING_URL` + pathVariable.ReplaceAllStringFunc(op.Path, func(name string) string {
		return "${" + variable(strings.Trim(name, "{}")) + "}"
	}))
	separator := "?"
	for _, p := range op.parameters("query") {
		if p.Get("required").Has(yes) {
			fmt.Fprintf(&b, "%s%s=%s", separator, p.Get("name"), p.Get("example"))
			separator = "&"
		}
	}
	b.WriteString(`"`)
	if !op.Get("security").Exists() {
		b.WriteString(` \` + "\n" + `  -H "Authorization: Bearer $GIFTING_KEY"`)
	}
	if op.Method != http.MethodPost {
		return b.String(), nil
	}
	for _, p := range op.parameters("header") {
		if p.Get("name").String() == "Idempotency-Key" && p.Get("required").Has(yes) {
			b.WriteString(` -H "Idempotency-Key: $(uuidgen)"`)
		}
	}
	body, err := op.exampleBody()
	if err != nil {
		return "", err
	}
	b.WriteString(` \` + "\n" + `  -H "Content-Type: application/json" -d ` + inShell(body))
	return b.String(), nil
}

var pathVariable = regexp.MustCompile(`\{[A-Za-z]+\}`)

// variable is the name of a shell variable for a member: orderId is ORDER_ID.
func variable(member string) string {
	var b strings.Builder
	for _, r := range member {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// exampleBody is the first example of the body, as compact JSON.
func (o operation) exampleBody() (string, error) {
	examples := o.Get("requestBody", "content", "application/json", "examples").All()
	if len(examples) == 0 {
		return "", fmt.Errorf("%s has no example of its body", o.ID())
	}
	return examples[0].Get("value").JSON()
}

var (
	// ids of records are those of the reader's tenant.
	ids = regexp.MustCompile(`"([a-z]+Id)": "[0-9a-f-]{36}"`)
	// listed are ids in a list, such as productIds.
	listed = regexp.MustCompile(`"([a-z]+Id)s": \[\s*"[0-9a-f-]{36}"\s*\]`)
	// unique is an id of the caller that can be used once.
	unique = regexp.MustCompile(`("externalOrderId": )"[^"]*"`)
)

// withVariables puts variables of the shell in the place of the ids of records, and a fresh value into the caller's own id.
func withVariables(body string) string {
	body = ids.ReplaceAllStringFunc(body, func(found string) string {
		name := ids.FindStringSubmatch(found)[1]
		return fmt.Sprintf(`%q: "$%s"`, name, variable(name))
	})
	body = listed.ReplaceAllStringFunc(body, func(found string) string {
		name := listed.FindStringSubmatch(found)[1]
		return fmt.Sprintf(`"%ss": ["$%s"]`, name, variable(name))
	})
	return unique.ReplaceAllString(body, `${1}"crm-$$(uuidgen)"`)
}

// inShell quotes a body for the shell. One with variables becomes a here-document, which the shell expands.
func inShell(body string) string {
	expanded := withVariables(body)
	if expanded != body {
		return "@- <<JSON\n" + expanded + "\nJSON"
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(body)); err != nil || strings.Contains(body, "'") {
		return "@- <<'JSON'\n" + body + "\nJSON"
	}
	return "'" + compact.String() + "'"
}
