package relay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestUnderLoadABatchTakesAllRowsCommittedSinceTheLastOne(t *testing.T) {
	t.Parallel()
	const interval = time.Second
	each := func(rows int) time.Duration { return time.Duration(rows) * interval }
	f := setup(t, Config{PollInterval: time.Hour, BatchInterval: each}, telemetry.Discard())
	began := time.Now()
	f.start(t)
	f.addEvent(t, 0)
	f.Wake()
	published := func() int { return len(f.published.subjects(t)) }
	require.Eventually(t, func() bool { return published() == 1 }, waitLimit, pollInterval)
	for range 2 {
		f.addEvent(t, 0)
		f.Wake()
	}
	require.Eventually(t, func() bool {
		require.NotEqual(t, 2, published())
		return published() == 3
	}, waitLimit, pollInterval)
	require.GreaterOrEqual(t, time.Since(began), interval)
}

func TestASourceThatIsNotReadHasNoAge(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	measured := func() (found []string) {
		for _, name := range []string{"oldest_age", "held", "clock_offset", "unconfirmed_age"} {
			if len(tel.Values(t, "gifting.relay."+name)) > 0 {
				found = append(found, name)
			}
		}
		return found
	}
	f.metrics.lead(true)
	require.Empty(t, measured(), "the leader has not read yet")
	f.published.fail = func(int) int { return 0 }
	f.addEvent(t, 1)
	_, err := f.publishBatch(t.Context())
	require.ErrorIs(t, err, errPublish)
	require.Equal(t, []string{"oldest_age", "held", "clock_offset", "unconfirmed_age"}, measured())

	f.metrics.readAt = f.metrics.readAt.Add(-unreadAfter)
	ages := tel.Values(t, "gifting.relay.oldest_age")
	require.GreaterOrEqual(t, ages["source=links"], unreadAfter.Seconds(), "what was not published still waits")
	require.NotContains(t, ages, "source=orders", "there may be changes by now")
	require.Equal(t, []string{"oldest_age", "unconfirmed_age"}, measured())
	f.metrics.lead(false)
	f.metrics.lead(true)
	require.Empty(t, measured(), "another term begins with nothing")
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	f.published.fail = func(int) int { return 0 }
	leads := func() float64 { return tel.Values(t, "gifting.relay.leads")[""] }
	ages := func() map[string]float64 { return tel.Values(t, "gifting.relay.oldest_age") }
	require.Zero(t, leads())
	require.Empty(t, ages(), "only the leader reports ages")
	require.Equal(t, map[string]float64{"": 0}, tel.Values(t, "gifting.relay.published"))
	f.start(t)
	f.addEvent(t, 1)
	require.Eventually(t, func() bool { return ages()["source=links"] > 0.1 }, waitLimit, pollInterval,
		"the age grows while nothing can be published")
	require.InDelta(t, 0, ages()["source=orders"], 0)
	require.InDelta(t, 1, leads(), 0)
	require.Positive(t, tel.Values(t, "gifting.relay.failures")[""])
	f.published.lock.Lock()
	f.published.fail = nil
	f.published.lock.Unlock()
	require.Eventually(t, func() bool { return ages()["source=links"] == 0 }, waitLimit, pollInterval)
	require.Equal(t, map[string]float64{"": 1}, tel.Values(t, "gifting.relay.published"))
	require.Contains(t, tel.Values(t, "db.client.connection.max"),
		"db.client.connection.pool.name=outbox/links,db.system.name=postgresql")
}
