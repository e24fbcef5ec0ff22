package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
)

// root of the repository, from this package.
const root = "../.."

// example of a guide, and lines that its output must have.
type example struct {
	script string
	want   []string
}

var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// examplesOf reads the examples of a guide: a block of text says what the shell block before it prints.
func examplesOf(t *testing.T, guide string) []example {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, guide))
	require.NoError(t, err)
	var found []example
	for _, block := range fence.FindAllStringSubmatch(string(content), -1) {
		if block[1] == "sh" {
			found = append(found, example{script: block[2]})
			continue
		}
		require.NotEmpty(t, found, "text before any example")
		found[len(found)-1].want = strings.Split(strings.TrimSpace(block[2]), "\n")
	}
	return found
}

// testGuide runs the examples of the guide for internal teams in one shell, as somebody who reads it would.
func (p *platform) testGuide(t *testing.T) {
	p.ownStack(t, "its folder")
	examples := examplesOf(t, "proto/README.md")
	require.Greater(t, len(examples), 8)
	key := p.approvingKey(t)
	p.requested(t, key) // There is more than one page of orders.
	const end = "=== end of an example: "
	var script strings.Builder
	for _, one := range examples {
		script.WriteString(one.script + "\necho '" + end + "'$?\n")
	}
	command := exec.CommandContext(t.Context(), "bash", "-s")
	command.Stdin = strings.NewReader(script.String())
	command.Dir = p.asInRepository(t)
	command.Env = append(os.Environ(), "ORDER_ID="+p.requested(t, key), "PATH="+grpcurl(t)+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)

	outputs := strings.Split(string(output), end)
	require.Len(t, outputs, len(examples)+1, "%s", output)
	for i, one := range examples {
		t.Run(fmt.Sprintf("example %d", i+1), func(t *testing.T) {
			for _, line := range one.want {
				require.Contains(t, outputs[i], line, one.script)
			}
			refused := strings.HasPrefix(strings.Join(one.want, ""), "Code: ") || strings.HasPrefix(strings.Join(one.want, ""), "Failed")
			require.Equal(t, !refused, strings.HasPrefix(outputs[i+1], "0\n"), "%s\n%s", one.script, outputs[i])
		})
	}
	read := p.get(t, key, "/orders?status=SENT")
	require.Equal(t, http.StatusOK, read.status)
	require.Contains(t, read.body, `"trackingReference":"T-1"`, "the order that the guide approved and dispatched")
}

// asInRepository gives a folder that looks like the repository with the stack of the test running.
func (p *platform) asInRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	contracts, err := filepath.Abs(filepath.Join(root, "proto"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(contracts, filepath.Join(dir, "proto")))
	require.NoError(t, os.Symlink(filepath.Dir(local.EnvFile(p.config.Dir)), filepath.Join(dir, ".local")))
	return dir
}

// grpcurl gives the folder of the program, built from its pinned version unless `make` has done so.
func grpcurl(t *testing.T) string {
	t.Helper()
	made, err := filepath.Abs(filepath.Join(root, ".local", "bin"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(made, "grpcurl")); err == nil {
		return made
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(root, ".tools"), "build",
		"-o", dir, "github.com/fullstorydev/grpcurl/cmd/grpcurl")
	build.Env = append(os.Environ(), "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", bytes.TrimSpace(output))
	return dir
}
