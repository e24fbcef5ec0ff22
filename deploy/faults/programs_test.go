//go:build faults

package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// previousVariable names the revision that the instances run before they are restarted; without it that is the last
// release, and before there is one, the version that is tested.
const previousVariable = "GIFTING_TEST_PREVIOUS"

// buildPrograms builds the named programs, or all, of this version or of the sources in the folder, and returns their folder.
// overlay names a list of replaced source files.
func buildPrograms(t *testing.T, sources, overlay string, names ...string) string {
	t.Helper()
	const platform = "github.com/partnergifting/platform/"
	dir := t.TempDir()
	args := []string{"build", "-overlay", overlay, "-o", dir + "/"}
	for _, p := range programs {
		folder := "services/" + string(p.name)
		if p.name == identity.Gateway {
			folder = "gateway"
		}
		if len(names) == 0 || slices.Contains(names, string(p.name)) {
			args = append(args, platform+folder+"/cmd/"+string(p.name))
		}
	}
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = sources
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return dir
}

// previousPrograms builds those of the version before, so that the restart is an upgrade and that version runs on this
// one's schema and beside its instances. It gives none when there is no version before.
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
	root, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	require.NoError(t, err)
	packed := filepath.Join(sources, "sources.tar")
	pack := exec.CommandContext(t.Context(), "git", "archive", "--output", packed, revision)
	pack.Dir = strings.TrimSpace(string(root))
	output, err := pack.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.CommandContext(t.Context(), "tar", "-x", "-f", packed, "-C", sources).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return buildPrograms(t, sources, "")
}
