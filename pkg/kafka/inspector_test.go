package kafka

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestInspectorFindsWhatWasPublished(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 3)
	msgs := numbered(30, 10)
	require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
	i, err := NewInspector(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(i.Close)

	next := map[int]int64{}
	for _, m := range msgs {
		require.Equal(t, next[m.Partition], m.Offset, "Publish sets the offset")
		next[m.Partition]++
		found, err := i.Message(t.Context(), m.Partition, m.Offset)
		require.NoError(t, err)
		require.Equal(t, m.Key, found.Key)
		require.Equal(t, m.Value, found.Value)
		require.Equal(t, m.Offset, found.Offset)
	}
	_, err = i.Message(t.Context(), 0, next[0]+1)
	require.ErrorIs(t, err, ErrNoMessage, "beyond the end")

	spans, err := i.Spans(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Span{{0, 0, next[0]}, {1, 0, next[1]}, {2, 0, next[2]}}, spans)

	group := newGroup()
	committed := func(want map[int]int64) {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			got, err := i.Committed(t.Context(), group)
			require.NoError(c, err, "a new group's coordinator may not be ready")
			require.Equal(c, want, got)
		}, patience, 10*time.Millisecond)
	}
	committed(map[int]int64{})
	var s sink
	start(t, newConsumer(t, cfg, options(topic, group), s.handle))
	s.waitFor(t, len(msgs))
	committed(next)
}
