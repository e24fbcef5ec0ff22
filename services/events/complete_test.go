package events

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

func TestTheFeedIsNotCompleteWhileAMessageStopsItsPartition(t *testing.T) {
	t.Parallel()
	f := setup(t)
	defer f.start(t)()
	f.requireFeed(t, f.add(t, 10))
	require.Eventually(t, func() bool { return f.incomplete(t) == "" }, waitLimit, pollInterval)
	producer, err := kafka.NewProducer(f.cfg.Kafka, f.cfg.KafkaTopic, telemetry.Discard())
	require.NoError(t, err)
	require.NoError(t, producer.Publish(t.Context(), []kafka.Message{{Key: []byte(f.tenant), Value: []byte("\xffnonsense")}}))
	require.NoError(t, producer.Close())
	require.Regexp(t, `^partition \d is stored up to offset \d+, and Kafka has 0 to \d+$`, f.incomplete(t))
}

// incomplete says what the feed lacks of what Kafka has.
func (f *fixture) incomplete(t *testing.T) (reason string) {
	t.Helper()
	require.Eventually(t, func() bool {
		page, err := f.records.ListOrderEvents(t.Context(), &eventsv1.ListOrderEventsRequest{TenantId: f.tenant, Limit: 1000, CheckComplete: true})
		reason = page.GetIncompleteReason()
		return err == nil && page.GetEnd()
	}, waitLimit, pollInterval)
	return reason
}
