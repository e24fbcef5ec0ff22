package sender

import (
	"context"
	"errors"
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
	for {
		err := s.recorder.record(ctx, store.Result{Delivery: d.Delivery, Verdict: v, Attempt: a})
		switch {
		case err == nil:
			s.metrics.count(ctx, outcomeName(v), 1)
			return
		case errors.Is(err, store.ErrLeaseLost):
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

// recorder stores results in batches: those that arrive during a commit share the next one. Under load
// one commit records many deliveries, and without load none waits.
type recorder struct {
	store   *store.Store
	batches daemon.Batcher[*pendingResult]
}

type pendingResult struct {
	store.Result
	leaseLost bool
}

func newRecorder(st *store.Store) *recorder {
	r := &recorder{store: st}
	r.batches.Process, r.batches.Timeout, r.batches.MaxConcurrent, r.batches.MaxItems = r.commit, recordTimeout, 1, maxRecorded
	// A result that the database refuses must not block the others.
	r.batches.Isolate = func(err error) bool { return postgres.State(err) != "" }
	return r
}

// record returns once the result is committed or has failed.
func (r *recorder) record(ctx context.Context, result store.Result) error {
	p := &pendingResult{Result: result}
	if err := r.batches.Do(ctx, p); err != nil {
		return err
	}
	if p.leaseLost {
		return store.ErrLeaseLost
	}
	return nil
}

func (r *recorder) commit(ctx context.Context, batch []*pendingResult) error {
	results := make([]store.Result, len(batch))
	for i, p := range batch {
		results[i] = p.Result
	}
	recorded, err := r.store.Record(ctx, results)
	if err != nil {
		return err
	}
	for i, p := range batch {
		p.leaseLost = !recorded[i]
	}
	return nil
}
