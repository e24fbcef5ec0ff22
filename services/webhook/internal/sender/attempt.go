package sender

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// leased is a claimed delivery and when its lease ends by this process's clock.
type leased struct {
	store.Delivery
	until time.Time
}

// deliver sends one claimed delivery and records the result.
func (s *Sender) deliver(ctx context.Context, d leased, to endpoint) {
	ctx = withTraceOf(ctx, d.Delivery)
	if to.gone() {
		s.record(ctx, d, rules.Verdict{State: rules.Dropped}, store.Attempt{})
		return
	}
	started := s.now()
	if started.Add(s.cfg.Timeout + recordTimeout).After(d.until) {
		// The lease might end before the attempt does, and another sender begin.
		s.release(ctx, []store.Delivery{d.Delivery}, 0)
		s.Wake()
		return
	}
	began := time.Now()
	response := s.post(ctx, d.Delivery, to)
	took := time.Since(began)

	random := rand.Float64() //nolint:gosec // Spreads retries; nobody gains by guessing it.
	verdict := rules.Judge(response.Outcome, rules.Progress{Attempts: d.Attempts, Age: d.Age}, random)
	if !verdict.Counted {
		s.log.WarnContext(ctx, "attempt does not count", "event_id", d.EventID, "key_id", d.KeyID, "error", response.Cause)
	}
	attempt := store.Attempt{StartedAt: started, Duration: took, Outcome: response.Outcome, ResponseBody: response.Body}
	s.metrics.attempt(ctx, d.Delivery, attempt, verdict)
	s.record(ctx, d, verdict, attempt)
}

func (s *Sender) post(ctx context.Context, d store.Delivery, to endpoint) webhookclient.Response {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return s.traced(ctx, d, func(ctx context.Context) webhookclient.Response {
		return s.client.Post(ctx, webhookclient.Request{URL: to.url, Secret: to.secret, EventID: d.EventID, Body: d.Body})
	})
}
