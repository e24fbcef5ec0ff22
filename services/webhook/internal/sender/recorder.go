package sender

import (
	"context"

	"github.com/partnergifting/platform/pkg/batcher"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// maxRecorded bounds the results of one statement.
const maxRecorded = 256

// recorder commits results together: those that come in while a commit is under way share the
// next one. Under load a commit then serves many deliveries, and none waits when there is none.
type recorder struct {
	store *store.Store
	runs  batcher.Batcher[*recording]
}

type recording struct {
	result store.Result
	lost   bool
}

func newRecorder(st *store.Store) *recorder {
	r := &recorder{store: st}
	r.runs.Process, r.runs.Timeout, r.runs.MaxConcurrent, r.runs.MaxItems = r.commit, recordTime, 1, maxRecorded
	// A result that the database refuses does not keep the others from being recorded.
	r.runs.Isolate = func(err error) bool { return postgres.State(err) != "" }
	return r
}

// record returns when the result is committed or could not be.
func (r *recorder) record(ctx context.Context, result store.Result) error {
	rec := &recording{result: result}
	if err := r.runs.Do(ctx, rec); err != nil {
		return err
	}
	if rec.lost {
		return store.ErrLeaseLost
	}
	return nil
}

func (r *recorder) commit(ctx context.Context, batch []*recording) error {
	results := make([]store.Result, len(batch))
	for i, rec := range batch {
		results[i] = rec.result
	}
	recorded, err := r.store.Record(ctx, results)
	if err != nil {
		return err
	}
	for i, rec := range batch {
		rec.lost = !recorded[i]
	}
	return nil
}
