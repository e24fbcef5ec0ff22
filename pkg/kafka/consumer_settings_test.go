package kafka

import (
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
)

func TestConsumerSettings(t *testing.T) {
	t.Parallel()
	cfg := Config{Brokers: []string{"broker:9092"}, ClientID: "events"}
	c := newConsumer(t, cfg, ConsumerOptions{Topic: "t", Group: "g"}, (&sink{}).handle)

	t.Run("group", func(t *testing.T) {
		g := c.groupConfig()
		require.Equal(t, "g", g.ID)
		require.Equal(t, []string{"t"}, g.Topics)
		require.Equal(t, kafkago.FirstOffset, g.StartOffset)
		require.Equal(t, "events", g.Dialer.ClientID)
		require.True(t, g.WatchPartitionChanges)
		require.LessOrEqual(t, g.JoinGroupBackoff, 500*time.Millisecond)
		require.LessOrEqual(t, g.HeartbeatInterval, g.SessionTimeout/3)
		require.GreaterOrEqual(t, g.SessionTimeout, 6*time.Second, "brokers refuse less")
		require.NoError(t, g.Validate())
	})

	t.Run("reader", func(t *testing.T) {
		r := c.readerConfig(3, newConns(c.dial))
		require.Equal(t, 3, r.Partition)
		require.Empty(t, r.GroupID)
		require.Equal(t, 1, r.MinBytes)
		require.Greater(t, r.MaxBytes, defaultLimits.bytes)
		require.Equal(t, time.Second, r.MaxWait)
		require.Equal(t, c.opts.MaxBatch, r.QueueCapacity)
		require.Negative(t, r.ReadLagInterval)
		require.LessOrEqual(t, r.ReadBackoffMin, 20*time.Millisecond)
		require.NoError(t, r.Validate())
	})

	t.Run("the zero value of the options is usable", func(t *testing.T) {
		require.Equal(t, defaultMaxBatch, c.opts.MaxBatch)
		require.Equal(t, defaultStallAfter, c.opts.StallAfter)
	})
}
