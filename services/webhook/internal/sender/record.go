package sender

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	// recordTimeout is the part of a lease that is left, after an attempt, to record its result.
	recordTimeout = 2 * time.Second
	// recordRetryDelay is the pause between attempts to record while the database does not answer.
	recordRetryDelay = 100 * time.Millisecond
	// maxRecorded bounds the results of one statement.
	maxRecorded = 256
)

// record stores a result. It retries until the lease ends: until then no other sender can have the delivery.
func (s *Sender) record(ctx context.Context, d leasedDelivery, v rules.Verdict, a store.Attempt) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout+s.cfg.Lease-s.cfg.Timeout)
	defer cancel()
	for failures := 0; ; failures++ {
		p := &pendingResult{Result: store.Result{Delivery: d.Delivery, Verdict: v, Attempt: a}}
		err := s.results.Do(ctx, p)
		// Before its end, only an earlier call can have ended the lease: it was committed, but its answer was lost.
		committed := !p.leaseLost || failures > 0 && s.now().Before(d.leaseEnd)
		switch {
		case err == nil && committed:
			s.metrics.count(ctx, outcomeName(v), 1)
			return
		case err == nil:
			s.metrics.count(ctx, leaseLost, 1)
			s.log.WarnContext(ctx, "delivery was claimed again before its result was recorded",
				"event_id", d.EventID, "key_id", d.KeyID)
			return
		case ctx.Err() != nil || s.now().After(d.leaseEnd):
			s.metrics.count(ctx, notRecorded, 1)
			s.log.ErrorContext(ctx, "cannot record a delivery, it will be sent again",
				"event_id", d.EventID, "key_id", d.KeyID, "error", err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(recordRetryDelay):
		}
	}
}

// pendingResult is a result that is being stored. It is not stored if its lease was lost.
type pendingResult struct {
	store.Result
	leaseLost bool
}

// newResults makes what stores results in batches: those that arrive during a commit share the next one. Under load one commit
// records many deliveries, and without load none waits.
func newResults(st *store.Store) *daemon.Batcher[*pendingResult] {
	return &daemon.Batcher[*pendingResult]{
		Process: func(ctx context.Context, batch []*pendingResult) error {
			recorded, err := st.Record(ctx, postgres.Column(batch, func(p *pendingResult) store.Result { return p.Result }))
			for i := range recorded {
				batch[i].leaseLost = !recorded[i]
			}
			return err
		},
		Timeout: recordTimeout, MaxConcurrent: 1, MaxItems: maxRecorded,
		// A result that the database refuses must not block the others.
		Isolate: func(err error) bool { return postgres.State(err) != "" },
	}
}
