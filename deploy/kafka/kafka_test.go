package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	t.Run("the pom pins an exact version", func(t *testing.T) {
		version, err := Version()
		require.NoError(t, err)
		require.Regexp(t, `^\d+\.\d+\.\d+$`, version)
	})
}
