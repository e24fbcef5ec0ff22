//go:build faults

package faults_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leastEfficacy is the least share of changes to rules, in percent, that tests must notice. Some changes change nothing.
const leastEfficacy = "75"

// TestTheRulesAreTested lets gremlins change one operator of the rules at a time. It shares GIFTING_TEST_SECONDS among the
// services; GIFTING_TEST_MODULE chooses one. Rules that only tests of other packages run are not changed.
func TestTheRulesAreTested(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("GIFTING_TEST_SECONDS"))
	require.NoError(t, err, "GIFTING_TEST_SECONDS: run it by make mutants")
	var modules []string
	rules, err := filepath.Glob(filepath.Join(root(t), "services/*/internal/rules"))
	require.NoError(t, err)
	for _, dir := range rules {
		if module := filepath.Dir(filepath.Dir(dir)); strings.HasSuffix(module, os.Getenv("GIFTING_TEST_MODULE")) {
			modules = append(modules, module)
		}
	}
	// Gremlins copies a module to TMPDIR/gremlins-*/wd-*, where its go.mod looks for the others two levels up.
	dir := t.TempDir()
	for _, name := range []string{"pkg", "proto"} {
		require.NoError(t, os.Symlink(filepath.Join(root(t), name), filepath.Join(dir, name)))
	}
	for _, module := range modules {
		t.Run(filepath.Base(module), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second/time.Duration(len(modules)))
			defer cancel()
			// One worker: a test that waits for a processor would count as one that noticed the change.
			command := exec.CommandContext(ctx, filepath.Join(root(t), ".local/bin/gremlins"), "unleash", "./internal/rules",
				"--workers", "1", "--timeout-coefficient", "20", "--threshold-efficacy", leastEfficacy, "--output-statuses", "lt")
			command.Dir, command.Env = module, append(os.Environ(), "GOWORK=off", "TMPDIR="+dir)
			// It has then named what lived, but reports no efficacy.
			command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(os.Interrupt) }, time.Minute
			output, err := command.CombinedOutput()
			t.Logf("%s", output)
			if ctx.Err() == nil {
				require.NoError(t, err)
				require.Contains(t, string(output), "Killed:")
			}
		})
	}
}
