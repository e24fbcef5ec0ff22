//go:build faults

package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/processes"
	"github.com/partnergifting/platform/pkg/identity"
)

// previousVariable names the revision that the instances run before they are restarted. The default is the last release,
// or the tested version if there is none.
const previousVariable = "GIFTING_TEST_PREVIOUS"

// buildPrograms builds the named programs, or all, and returns their folder.
func buildPrograms(t *testing.T, sources string, flags []string, names ...identity.Name) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, processes.Build(t.Context(), dir, sources, flags, names...))
	return dir
}

// previousPrograms builds the programs of the previous version: the restart is then an upgrade, during which that version runs
// on the new schema beside new instances. It returns an empty string if there is no previous version.
func previousPrograms(t *testing.T) string {
	t.Helper()
	revision := os.Getenv(previousVariable)
	if revision == "" {
		tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
		if err != nil {
			t.Log("there is no release yet: the instances are restarted with the version they ran")
			return ""
		}
		revision = strings.TrimSpace(string(tag))
	}
	t.Logf("the instances are upgraded from %s", revision)
	sources := t.TempDir()
	packed := filepath.Join(sources, "sources.tar")
	pack := exec.CommandContext(t.Context(), "git", "archive", "--output", packed, revision)
	pack.Dir = root(t)
	output, err := pack.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.CommandContext(t.Context(), "tar", "-x", "-f", packed, "-C", sources).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return buildPrograms(t, sources, nil)
}
