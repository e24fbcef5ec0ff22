package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

func TestTheDefaultsArePromised(t *testing.T) {
	t.Setenv("GIFTING_GRPC_ADDR", "127.0.0.1:9000")
	t.Setenv("GIFTING_DATABASE_URL", "postgres://h/webhook")
	t.Setenv("GIFTING_KAFKA_BROKERS", "k1:9092")
	t.Setenv("GIFTING_TENANTS_ADDR", "h:9000")
	var cfg Config
	require.NoError(t, settings.Load(&cfg))

	t.Run("an attempt may take 10 seconds", func(t *testing.T) {
		require.Equal(t, 10*time.Second, cfg.Timeout)
		require.Equal(t, 10*time.Second, Config{}.complete().Timeout)
	})
	t.Run("the answer to a test is kept for 30 days", func(t *testing.T) {
		require.Equal(t, 30*24*time.Hour, cfg.IdempotencyRetention)
	})
}
