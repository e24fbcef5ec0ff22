package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestAnAttemptBelongsToTheTraceOfItsChangeAndALaterOneLinksToIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	s := f.start()
	const cause = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	e := newEvent(7)
	e.TraceParent = cause
	id := f.fanOut(e)
	s.Wake()
	again := f.waitFor(id, 7, attempted(1))
	f.clock.set(*again.Next)
	s.Wake()
	f.waitFor(id, 7, attempted(2))

	parent := telemetry.ParseTraceParent(cause)
	spans := f.tel.Spans("POST webhook")
	require.Len(t, spans, 2)
	first, second := spans[0], spans[1]
	require.Equal(t, parent.TraceID(), first.SpanContext().TraceID())
	require.Equal(t, parent.SpanID(), first.Parent().SpanID())
	require.NotEqual(t, parent.TraceID(), second.SpanContext().TraceID())
	require.False(t, second.Parent().IsValid())
	for i, span := range spans {
		require.Equal(t, trace.SpanKindClient, span.SpanKind())
		require.Equal(t, parent.SpanID(), span.Links()[0].SpanContext.SpanID())
		require.Equal(t, codes.Error, span.Status().Code)
		attributes := telemetrytest.Attributes(span)
		require.Equal(t, "500", attributes["http.response.status_code"])
		require.Equal(t, "5xx", attributes["error.type"])
		require.Equal(t, "7", attributes["gifting.key.id"])
		require.Equal(t, tenant, attributes["gifting.tenant.id"])
		require.Equal(t, []string{"0", "1"}[i], attributes["http.request.resend_count"])
		for key, value := range attributes {
			require.NotContains(t, value, "127.0.0.1", "%s contains the receiver's address", key)
		}
	}
	for _, arrival := range receiver.Arrivals() {
		require.Empty(t, arrival.Header.Get("Traceparent"), "the trace is not sent to the receiver")
	}
}

func TestAnAttemptAtAResentDeliveryHasItsOwnTrace(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	s := f.start()
	e := newEvent(7)
	e.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	id := f.fanOut(e)
	s.Wake()
	f.waitFor(id, 7, inState("DELIVERED"))
	f.clock.advance(time.Second)
	require.NoError(t, f.store.Resend(t.Context(), endpointOfKey(7), id))
	s.Wake()
	f.waitFor(id, 7, func(r row) bool { return r.State == "DELIVERED" && r.Logged == 2 })

	spans := f.tel.Spans("POST webhook")
	require.Len(t, spans, 2)
	require.NotEqual(t, spans[0].SpanContext().TraceID(), spans[1].SpanContext().TraceID())
}

func TestAnAttemptOfAnUnrecordedTraceMakesNoSpan(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	f.start()
	for _, parent := range []string{"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "marked"} {
		e := newEvent(7)
		e.TraceParent = parent
		f.waitFor(f.fanOut(e), 7, inState("DELIVERED"))
	}
	require.Empty(t, f.tel.SpanNames())
}

func TestAttemptsAreMeasuredByClassAndTheFirstByItsDelay(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.clock.set(time.Now())
	receiver := f.receiver(7, webhooktest.Status(http.StatusNotFound))
	s := f.start()
	id := f.event(7)
	s.Wake()
	again := f.waitFor(id, 7, attempted(1))
	receiver.Respond(webhooktest.Status(http.StatusNoContent))
	f.clock.set(*again.Next)
	s.Wake()
	f.waitFor(id, 7, inState("DELIVERED"))

	require.Equal(t, map[string]float64{"class=4xx": 1, "class=2xx": 1}, f.tel.Values(t, "gifting.webhook.attempt.duration"))
	require.Equal(t, map[string]float64{"class=4xx": 1}, f.tel.Values(t, "gifting.webhook.first_attempt.delay"))
	require.Eventually(t, func() bool {
		counts := f.tel.Values(t, "gifting.webhook.deliveries")
		return counts["outcome=retry"] == 1 && counts["outcome=delivered"] == 1
	}, waitLimit, pollInterval)
}

func TestTheFirstDelayOfADeliveryThatWasPausedIsNotMeasured(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.clock.set(time.Now())
	receiver := f.receiver(7)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED})
	s := f.start()
	id := f.event(7)
	s.Wake()
	require.Eventually(t, func() bool {
		return f.tel.Values(t, "gifting.webhook.deliveries")["outcome=paused"] == 1 && !f.row(id, 7).Leased
	}, waitLimit, pollInterval)
	f.activate(7, receiver)
	f.clock.advance(pauseDuration)
	s.Wake()
	f.waitFor(id, 7, inState("DELIVERED"))
	require.Equal(t, map[string]float64{"class=2xx": 1}, f.tel.Values(t, "gifting.webhook.attempt.duration"))
	require.Empty(t, f.tel.Values(t, "gifting.webhook.first_attempt.delay"))
}
