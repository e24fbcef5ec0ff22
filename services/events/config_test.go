package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestSources(t *testing.T) {
	t.Parallel()
	t.Run("names and URLs, also one of several hosts", func(t *testing.T) {
		var s Sources
		require.NoError(t, s.UnmarshalText([]byte(
			"orders=postgres://u:p=1@h1:5432,h2:5432/orders?sslmode=disable, links=postgresql://u@h/links")))
		require.Equal(t, Sources{
			{Name: "orders", URL: "postgres://u:p=1@h1:5432,h2:5432/orders?sslmode=disable"},
			{Name: "links", URL: "postgresql://u@h/links"},
		}, s)
	})

	t.Run("anything else is refused without repeating it", func(t *testing.T) {
		for _, text := range []string{
			"", "postgres://u:secret@h/db", "orders", "secret,orders=postgres://h/db", "a=postgres://h/1,a=postgres://secret/2",
		} {
			var s Sources
			err := s.UnmarshalText([]byte(text))
			require.ErrorIs(t, err, errSources, text)
			require.NotContains(t, err.Error(), "secret")
		}
	})
}

func TestEventsAreKeptFor30DaysByDefault(t *testing.T) {
	t.Parallel()
	var cfg Config
	require.NoError(t, settings.Defaults(&cfg))
	require.Equal(t, 30*24*time.Hour, cfg.Retention)
}

func TestOnlyProductionRequiresReplicas(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		environment apikey.Environment
		given, want int
	}{
		{apikey.Production, 0, 3},
		{apikey.Production, 1, 1},
		{apikey.Sandbox, 0, 0},
		{apikey.Sandbox, 3, 3},
	} {
		topic := Config{Environment: tc.environment, KafkaReplication: tc.given}.topic()
		require.Equal(t, tc.want, topic.Replication)
		require.Equal(t, tc.environment == apikey.Production, topic.Required)
	}
}
