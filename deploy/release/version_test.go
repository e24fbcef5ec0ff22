package release_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/release"
)

const root = "../.."

var write = flag.Bool("write", false, "write the version of the change log where it is stated too")

// TestOneVersionIsStatedEverywhere compares the version of the change log with everything that states it. A new version is written
// everywhere but in the change logs of the SDKs by
//
//	go test ./deploy/release -run OneVersion -write
func TestOneVersionIsStatedEverywhere(t *testing.T) { //nolint:paralleltest // It may write.
	version, err := release.Version(root)
	require.NoError(t, err)
	for _, stated := range []struct{ path, pattern string }{
		{"helm/gifting/Chart.yaml", `(?m)^version: (.*)$`},
		{"helm/gifting/Chart.yaml", `(?m)^appVersion: (.*)$`},
		{"gateway/sdk/typescript/package.json", `(?m)^  "version": "(.*)",$`},
		{"gateway/sdk/typescript/package-lock.json", `(?m)^  "version": "(.*)",$`},
		{"gateway/sdk/typescript/package-lock.json", `"packages": {\n    "": {\n.*\n      "version": "(.*)",\n`},
		{"gateway/sdk/typescript/src/version.ts", `(?m)^export const version = "(.*)";$`},
		{"gateway/sdk/python/src/partnergifting/_version.py", `(?m)^__version__ = "(.*)"$`},
		{"gateway/sdk/typescript/CHANGELOG.md", `(?m)^## (\d.*)$`},
		{"gateway/sdk/python/CHANGELOG.md", `(?m)^## (\d.*)$`},
	} {
		path := filepath.Join(root, stated.path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		at := regexp.MustCompile(stated.pattern).FindSubmatchIndex(text)
		require.NotNil(t, at, "%s does not match %s", stated.path, stated.pattern)
		if *write && filepath.Base(path) != "CHANGELOG.md" {
			text = []byte(string(text[:at[2]]) + version + string(text[at[3]:]))
			require.NoError(t, os.WriteFile(path, text, 0o600))
			at[3] = at[2] + len(version)
		}
		require.Equal(t, version, string(text[at[2]:at[3]]), "%s, %s", stated.path, stated.pattern)
	}
}

func TestTheTagOfACommitIsItsVersion(t *testing.T) {
	t.Parallel()
	version, err := release.Version(root)
	require.NoError(t, err)
	tags, err := exec.CommandContext(t.Context(), "git", "tag", "--points-at", "HEAD", "--list", "v*").Output()
	require.NoError(t, err)
	for _, tag := range strings.Fields(string(tags)) {
		require.Equal(t, "v"+version, tag)
	}
}
