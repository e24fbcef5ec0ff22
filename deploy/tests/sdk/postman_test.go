//go:build sdk

package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// testPostman runs the collection by the command of the guide, with the address and the key of demo.env. It runs twice, because
// a run leaves records behind.
func testPostman(t *testing.T, p *harness.Platform) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(root, "gateway", "docs", "guides", "sandbox.md"))
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^npx .*$`).FindString(string(guide))
	newman := func(key, more string) (string, error) {
		run := exec.CommandContext(t.Context(), "sh", "-c", command+more)
		run.Env = append(os.Environ(), "GIFTING_URL="+p.Env["GIFTING_URL"], "GIFTING_KEY="+key)
		output, err := run.CombinedOutput()
		return string(output), err
	}
	output, err := newman(p.Env["GIFTING_KEY"], " --iteration-count 2")
	require.NoError(t, err, output)
	output, err = newman("gft_sbx_wrong", " --bail")
	require.Error(t, err, "a response that is no success")
	require.Contains(t, output, "expected response code to be 2XX but found 401")
}
