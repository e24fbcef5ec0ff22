package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block of JSON after <!-- response --> is the whole JSON that the commands above it print last. It is compared up to what
// differs from run to run. GIFTING_TEST_UPDATE=1 writes the blocks anew.
const responseMark = "<!-- response -->"

// guideURL is the base address that the guides show.
const guideURL = "https://api.example.com/api/public/v1"

// ownOrder is the externalOrderId of an order that the test placed itself.
var ownOrder = regexp.MustCompile(`\be2e-[A-Z0-9]{26}\b`)

// asShown replaces the addresses of the platform in an output, and ids of the test, by those that the guides show.
func (s stack) asShown(output string) string {
	url, inbox := s.Env["GIFTING_URL"], s.Env["GIFTING_INBOX_URL"]
	output = ownOrder.ReplaceAllString(output, "crm-2026-000123")
	output = regexp.MustCompile(regexp.QuoteMeta(inbox)+`/\w+`).ReplaceAllString(output, "https://partner.example.com/webhooks")
	return strings.NewReplacer(url, guideURL, strings.TrimSuffix(url, "/api/public/v1"), "https://gifts.example.com").Replace(output)
}

// documentsIn finds the JSON objects and arrays of an output, which may have headers between them.
func documentsIn(output string) (found []string) {
	for {
		begin := strings.IndexAny(output, "{[")
		if begin < 0 {
			return found
		}
		output = output[begin:]
		d := json.NewDecoder(strings.NewReader(output))
		var document json.RawMessage
		if err := d.Decode(&document); err != nil {
			output = output[1:]
			continue
		}
		found = append(found, string(document))
		output = output[d.InputOffset():]
	}
}

var (
	// volatileMembers have another value in each run. The operator is closed at night, and a delivery can be pending at any time.
	volatileMembers = regexp.MustCompile(`"(id|instance|prefix|durationMs|deliveries|secret|pending|receivedOutsideActiveHours)": ` +
		`("(?:[^"\\]|\\.)*"|\d+|true|false)|"(nextCursor|oldestPendingAt)": [^,\n]+`)
	volatileTexts = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+-\d+-\d+T[0-9:.]+Z|` +
		`\bG[A-Z](-[0-9A-Z]{5}){2}|/c/[\w-]+|/images/[0-9a-f]+`)
)

// comparableJSON is a JSON document in one form, without what differs from run to run.
func comparableJSON(t *testing.T, document string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, []byte(document), "", "  "), document)
	return volatileTexts.ReplaceAllString(volatileMembers.ReplaceAllString(out.String(), `"$1$3": 0`), "0")
}

// requireResponses checks that the output ends with the documents that the page shows.
func (s stack) requireResponses(t *testing.T, shown []string, output string) {
	t.Helper()
	documents := documentsIn(s.asShown(output))
	require.GreaterOrEqual(t, len(documents), len(shown), output)
	for i, document := range documents[len(documents)-len(shown):] {
		require.Equal(t, comparableJSON(t, shown[i]), comparableJSON(t, document), output)
	}
}

func TestDocumentsAreComparedUpToWhatDiffers(t *testing.T) {
	t.Parallel()
	const shown = `{"id":"5f0c3a2e-7d15-4a63-9d0e-0f3b8c1f2a77","at":"2026-01-31T12:00:00.25Z","nextCursor":"abc",` +
		`"version":1,"approvedAt":null}`
	other := strings.NewReplacer("5f0c", "0000", ".25Z", "Z", "abc", "xyz").Replace(shown)
	require.Equal(t, comparableJSON(t, shown), comparableJSON(t, other))
	for _, wrong := range []string{`"version":2`, `"version":"1"`, `"extra":1,"version":1`} {
		require.NotEqual(t, comparableJSON(t, shown), comparableJSON(t, strings.Replace(shown, `"version":1`, wrong, 1)))
	}
	approved := strings.Replace(shown, `:null`, `:"2026-01-31T12:00:00Z"`, 1)
	require.NotEqual(t, comparableJSON(t, shown), comparableJSON(t, approved))
}

// updateResponses writes the documents of the outputs into the blocks of a page that are no longer true. It reports whether it was
// asked to.
func (s stack) updateResponses(t *testing.T, path string, examples []example, outputs []string) bool {
	t.Helper()
	if os.Getenv("GIFTING_TEST_UPDATE") != "1" {
		return false
	}
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	before, out := string(content), ""
	block := regexp.MustCompile("(?s)" + responseMark + "\n```json\n.*?```\n")
	for i, one := range examples {
		documents := documentsIn(s.asShown(outputs[i]))
		for _, document := range documents[max(0, len(documents)-len(one.responses)):] {
			at := block.FindStringIndex(before)
			var pretty bytes.Buffer
			require.NoError(t, json.Indent(&pretty, []byte(document), "", "  "))
			written := responseMark + "\n```json\n" + pretty.String() + "\n```\n"
			if shown := documentsIn(before[at[0]:at[1]]); len(shown) > 0 && comparableJSON(t, shown[0]) == comparableJSON(t, document) {
				written = before[at[0]:at[1]]
			}
			out += before[:at[0]] + written
			before = before[at[1]:]
		}
	}
	require.NoError(t, os.WriteFile(path, []byte(out+before), 0o644))
	return true
}
