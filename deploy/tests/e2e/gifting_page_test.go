package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testPage checks that the page that shows SDKs and command line side by side names only commands and flags that exist.
func (c commandLine) testPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "gateway/docs/guides/operations.md"))
	require.NoError(t, err)
	commands := regexp.MustCompile("`gifting ([a-z -]+?)(?: /[^`]*)?`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(commands), 30)
	help := map[string]string{}
	for _, command := range commands {
		if help[command[1]] == "" {
			help[command[1]] = c.run(t, 0, "", append(strings.Fields(command[1]), "--help")...)
		}
		require.Contains(t, help[command[1]], "gifting "+command[1]+" ", command[0])
	}
	for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(string(page), -1) {
		require.Contains(t, help["orders place"], flag[1])
	}
}
