package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	var cfg Config
	require.NoError(t, settings.Defaults(&cfg))

	t.Run("an attempt may take 10 seconds, and 3 of them to connect", func(t *testing.T) {
		require.Equal(t, 10*time.Second, cfg.Sender.Timeout)
		require.Equal(t, 3*time.Second, cfg.Sender.Connect)
	})
	t.Run("the response to a test is stored for 30 days", func(t *testing.T) {
		require.Equal(t, 30*24*time.Hour, cfg.Idempotency.Retention)
	})
}
