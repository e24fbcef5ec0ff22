//go:build manifests

package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheReadmeDeletesWhatHooksLeave compares the command of the README with the hooks, which helm does not delete with a release.
func TestTheReadmeDeletesWhatHooksLeave(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	command := regexp.MustCompile(`kubectl delete (\S+) -l (\S+)=(\S+)\n`).FindStringSubmatch(string(readme))
	require.NotNil(t, command)
	kinds, label, value := strings.Split(command[1], ","), command[2], command[3]
	left := map[string]bool{}
	for _, object := range render(t, `{"environment": "sandbox", "test": {"apiKey": {"name": "key"}}, "authorities": {"inline": "`+bundle+`"}}`) {
		if object.GetAnnotations()["helm.sh/hook"] == "" {
			continue
		}
		kind := fmt.Sprintf("%T", object)
		kind = strings.ToLower(kind[strings.LastIndexByte(kind, '.')+1:])
		left[kind] = true
		require.Contains(t, kinds, kind, object.GetName())
		require.Equal(t, value, object.GetLabels()[label], object.GetName())
	}
	require.Len(t, left, len(kinds))
}
