package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guide is the text of a guide.
func guide(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "gateway/docs/guides", name+".md"))
	require.NoError(t, err)
	return string(content)
}

// testGoingLive compares the lines of the guide with the checks.
func (c commandLine) testGoingLive(t *testing.T) {
	var want, found []string
	for _, line := range regexp.MustCompile(`(?m)^- \*\*(.+)\.\*\* `).FindAllStringSubmatch(guide(t, "going-live"), -1) {
		want = append(want, strings.ToLower(line[1]))
	}
	require.Len(t, want, len(regexp.MustCompile(`(?m)^- `).FindAllString(guide(t, "going-live"), -1)), "each line has a name")
	printed := c.run(t, 6, "", "doctor", "--live")
	require.Regexp(t, `live: environment +FAILED +the key is of the sandbox`, printed)
	for _, line := range regexp.MustCompile(`(?m)^live: (\S+(?: \S+)*)  `).FindAllStringSubmatch(printed, -1) {
		found = append(found, line[1])
	}
	require.Equal(t, want, found)
}

// requireTools checks that the page about the assistant names its tools.
func requireTools(t *testing.T, listed string) {
	t.Helper()
	_, section, _ := strings.Cut(guide(t, "sdks"), "## Your assistant")
	var named, tools []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, `| "`) {
			for _, tool := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
				named = append(named, tool[1])
			}
		}
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(listed), &answer))
	for _, tool := range answer.Result.Tools {
		tools = append(tools, tool.Name)
	}
	require.ElementsMatch(t, named, tools)
}

// testPage checks that the page that shows SDKs and command line side by side names only commands and flags that exist.
func (c commandLine) testPage(t *testing.T) {
	page := guide(t, "operations")
	commands := regexp.MustCompile("`gifting ([a-z -]+?)(?: /[^`]*)?`").FindAllStringSubmatch(page, -1)
	require.Greater(t, len(commands), 30)
	help := map[string]string{}
	for _, command := range commands {
		if help[command[1]] == "" {
			help[command[1]] = c.run(t, 0, "", append(strings.Fields(command[1]), "--help")...)
		}
		require.Contains(t, help[command[1]], "gifting "+command[1]+" ", command[0])
	}
	for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(page, -1) {
		require.Contains(t, help["orders place"], flag[1])
	}
}
