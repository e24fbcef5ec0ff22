package telemetry_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProgramSaysWhatItWasStampedWith(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags []string
		want  string
	}{
		"stamped":     {[]string{"-ldflags", "-X github.com/partnergifting/platform/pkg/telemetry.version=v9.8.7"}, "v9.8.7"},
		"not stamped": {[]string{"-buildvcs=false"}, "(devel)"},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			build := exec.CommandContext(t.Context(), "go",
				append([]string{"build", "-o", program}, append(tc.flags, "./testdata/program")...)...)
			output, err := build.CombinedOutput()
			require.NoError(t, err, string(output))
			output, err = exec.CommandContext(t.Context(), program).Output()
			require.NoError(t, err)
			require.Equal(t, tc.want, strings.TrimSpace(string(output)))
		})
	}
}
