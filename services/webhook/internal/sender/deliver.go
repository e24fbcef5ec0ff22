package sender

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// recordBackoff paces attempts to record an outcome while the database is away.
const recordBackoff = 100 * time.Millisecond

// leased is a claimed delivery and when its lease ends by this process's clock.
type leased struct {
	store.Delivery
	until time.Time
}

// deliver sends one claimed delivery and records what came of it.
func (s *Sender) deliver(ctx context.Context, d leased, to target) {
	ctx = ofChange(ctx, d.Delivery)
	if to.gone() {
		s.record(ctx, d, rules.Verdict{State: rules.Dropped}, store.Attempt{})
		return
	}
	started := s.now()
	if started.Add(s.limits.Timeout + recordTime).After(d.until) {
		// The lease might end before the attempt does, and another sender begin.
		s.release(ctx, []store.Delivery{d.Delivery}, 0)
		s.Wake()
		return
	}
	began := time.Now()
	answer := s.post(ctx, d.Delivery, to)
	took := time.Since(began)

	verdict := rules.Judge(answer.Outcome, rules.Progress{Attempts: d.Attempts, Age: d.Age}, random())
	if !verdict.Counted {
		s.log.WarnContext(ctx, "attempt does not count", "event_id", d.EventID, "key_id", d.KeyID, "error", answer.Cause)
	}
	attempt := store.Attempt{StartedAt: started, Duration: took, Outcome: answer.Outcome, ResponseBody: answer.Body}
	s.metrics.attempt(ctx, d.Delivery, attempt, verdict)
	s.record(ctx, d, verdict, attempt)
}

func (s *Sender) post(ctx context.Context, d store.Delivery, to target) post.Answer {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	defer cancel()
	return s.traced(ctx, d, func(ctx context.Context) post.Answer {
		return s.poster.Post(ctx, post.Request{URL: to.url, Secret: to.secret, EventID: d.EventID, Body: d.Body})
	})
}

// record commits the verdict, for as long as the lease holds: until then nobody else can have it.
func (s *Sender) record(ctx context.Context, d leased, v rules.Verdict, a store.Attempt) {
	ctx, cancel := context.WithTimeout(ctx, recordTime+s.limits.Lease-s.limits.Timeout)
	defer cancel()
	for {
		err := s.recorder.record(ctx, store.Result{Delivery: d.Delivery, Verdict: v, Attempt: a})
		switch {
		case err == nil:
			s.metrics.count(ctx, outcomeName(v), 1)
			return
		case errors.Is(err, store.ErrLeaseLost):
			s.metrics.count(ctx, leaseLost, 1)
			s.log.WarnContext(ctx, "delivery was claimed again before its outcome was recorded",
				"event_id", d.EventID, "key_id", d.KeyID)
			return
		case ctx.Err() != nil || s.now().After(d.until):
			s.metrics.count(ctx, notRecorded, 1)
			s.log.ErrorContext(ctx, "cannot record a delivery, it will be sent again",
				"event_id", d.EventID, "key_id", d.KeyID, "error", err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(recordBackoff):
		}
	}
}
