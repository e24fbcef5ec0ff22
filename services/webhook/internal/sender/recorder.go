package sender

import (
	"context"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// maxRecorded bounds the results of one statement.
const maxRecorded = 256

// recorder commits results together: those that come in while a commit is under way share the
// next one. Under load a commit then serves many deliveries, and none waits when there is none.
type recorder struct {
	store *store.Store
	queue chan recording
}

type recording struct {
	result store.Result
	// done takes nil, store.ErrLeaseLost or what kept the result from being recorded.
	done chan error
}

func newRecorder(st *store.Store, workers int) *recorder {
	return &recorder{store: st, queue: make(chan recording, workers)}
}

// record returns when the result is committed or could not be.
func (r *recorder) record(ctx context.Context, result store.Result) error {
	rec := recording{result: result, done: make(chan error, 1)}
	select {
	case r.queue <- rec:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-rec.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run commits until the queue is closed.
func (r *recorder) run(ctx context.Context) {
	for first := range r.queue {
		r.commit(ctx, r.gather(first))
	}
}

// gather takes what has come in meanwhile.
func (r *recorder) gather(first recording) []recording {
	batch := []recording{first}
	for len(batch) < maxRecorded {
		select {
		case next, open := <-r.queue:
			if !open {
				return batch
			}
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// commit tells every result of the batch what became of it. A result that the database refuses
// does not keep the others from being recorded.
func (r *recorder) commit(ctx context.Context, batch []recording) {
	results := make([]store.Result, len(batch))
	for i, rec := range batch {
		results[i] = rec.result
	}
	recorded, err := r.try(ctx, results)
	if len(batch) > 1 && postgres.State(err) != "" {
		for _, rec := range batch {
			r.commit(ctx, []recording{rec})
		}
		return
	}
	for i, rec := range batch {
		switch {
		case err != nil:
			rec.done <- err
		case recorded[i]:
			rec.done <- nil
		default:
			rec.done <- store.ErrLeaseLost
		}
	}
}

func (r *recorder) try(ctx context.Context, results []store.Result) ([]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return r.store.Record(ctx, results)
}
