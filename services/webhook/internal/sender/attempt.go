package sender

import (
	"context"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// leasedDelivery is a claimed delivery.
type leasedDelivery struct {
	store.Delivery
	leaseEnd time.Time // By this process's clock.
}

// unreadableWait is how long a delivery waits when its event cannot be decrypted. That counts as no attempt, so the delivery never
// fails: it is sent once the event's key is in the key ring.
const unreadableWait = 15 * time.Second

// deliver sends one claimed delivery and records the result.
func (s *Sender) deliver(ctx context.Context, d leasedDelivery, to endpoint) {
	ctx = withTraceOf(ctx, d.Delivery)
	if to.mustDrop(d.Delivery) {
		s.record(ctx, d, rules.Verdict{State: rules.Dropped}, store.Attempt{})
		return
	}
	startedAt := s.now()
	if startedAt.Add(s.cfg.Timeout + recordTimeout).After(d.leaseEnd) {
		// The lease might end during the attempt, and another sender could then make the same attempt.
		s.release(ctx, []store.Delivery{d.Delivery}, 0)
		s.Wake()
		return
	}
	var err error
	if d.Body, err = s.reader.Open(ctx, seal.EventRef{TenantID: d.TenantID, EventID: d.EventID}, d.Body); err != nil {
		s.metrics.count(ctx, unreadable, 1)
		s.release(ctx, []store.Delivery{d.Delivery}, unreadableWait)
		return
	}
	sentAt, running := time.Now(), s.schedule.startAttempt(d.Endpoint)
	response := s.post(ctx, d.Delivery, to)
	took := time.Since(sentAt)
	running.finish(response.Delivered())

	random := rand.Float64() //nolint:gosec // It spreads retries and need not be secret.
	verdict := rules.Judge(response.Outcome, rules.Progress{Attempts: d.Attempts, Age: d.Age}, random)
	if !verdict.Counted {
		s.log.WarnContext(ctx, "attempt does not count", "event_id", d.EventID, "key_id", d.KeyID, "error", response.Cause)
	}
	attempt := store.Attempt{StartedAt: startedAt, Duration: took, Outcome: response.Outcome, ResponseBody: response.Body}
	s.metrics.attempt(ctx, d.Delivery, attempt, verdict, running.lastImpaired)
	s.record(ctx, d, verdict, attempt)
}

func (s *Sender) post(ctx context.Context, d store.Delivery, to endpoint) webhookclient.Response {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return s.traced(ctx, d, func(ctx context.Context) webhookclient.Response {
		return s.client.Post(ctx, webhookclient.Request{
			URL: to.url, Secrets: to.secrets, EventID: d.EventID, Body: d.Body,
		})
	})
}

// traceAge is the age from which a delivery's attempts no longer belong to the trace of its change, nor do those of a deferred one.
// Such an attempt has its own trace with a link to the change's, because a trace must not last for days.
const traceAge = time.Minute

// withTraceOf makes logs and exemplars belong to the trace of the delivery's change.
func withTraceOf(ctx context.Context, d store.Delivery) context.Context {
	if d.TraceParent == "" {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, telemetry.ParseTraceParent(d.TraceParent))
}

// traced makes a span for an attempt if the trace of its change is recorded. The span does not contain the
// URL, in which integrators may keep secrets, and the trace is not sent to the receiver. The key identifies the endpoint: each key
// has one.
func (s *Sender) traced(
	ctx context.Context, d store.Delivery, attempt func(ctx context.Context) webhookclient.Response,
) webhookclient.Response {
	changeSpan := trace.SpanContextFromContext(ctx)
	if s.tracer == nil || !changeSpan.IsSampled() {
		return attempt(ctx)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(trace.Link{SpanContext: changeSpan})}
	if d.Age >= traceAge || d.Deferred {
		options = append(options, trace.WithNewRoot())
	}
	ctx, span := s.tracer.Start(ctx, "POST webhook", options...)
	defer span.End()
	response := attempt(ctx)
	span.SetAttributes(semconv.HTTPRequestMethodPost, semconv.HTTPRequestResendCount(d.Attempts),
		attribute.String("gifting.tenant.id", d.TenantID), attribute.Int("gifting.key.id", int(d.KeyID)))
	if response.Status > 0 {
		span.SetAttributes(semconv.HTTPResponseStatusCode(response.Status))
	}
	if !response.Delivered() {
		span.SetAttributes(semconv.ErrorTypeKey.String(response.Class))
		span.SetStatus(codes.Error, "")
	}
	return response
}
