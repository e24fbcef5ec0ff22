package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// The files of samples are programs that call each operation with the SDK of their language. Tests of the SDKs run them. The
// documentation shows the lines between "// sample: placeOrder" and "// end" (in Python #) with the operation of that name.
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

// samplesOf are the samples of an operation: curl, and each language that has one.
func (b *builder) samplesOf(op operation) ([]sample, error) {
	shell, err := curl(op)
	if err != nil {
		return nil, err
	}
	return append([]sample{{"shell", "curl", shell}}, b.samples[op.ID()]...), nil
}
