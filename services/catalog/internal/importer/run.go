package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// batchRows keeps the catalog's lock short: other upkeep waits for one batch at most.
	batchRows = 200
	// batchBytes keeps a batch well below what a call may carry.
	batchBytes = 4 << 20
	// progressEvery is how often the progress is told.
	progressEvery = 2 * time.Second
)

var errTooManyRows = errors.New("the file has more than 1,000,000 rows; split it")

// Import is one run.
type Import struct {
	Rows    Rows
	Catalog catalogv1.ImportServiceClient
	Report  Report
	// Progress is told every two seconds and at the end.
	Progress io.Writer
	Clock    func() time.Time
}

// Totals of a run.
type Totals struct {
	Rows, Created, Updated, Unchanged, Rejected int
}

// run is an import under way.
type run struct {
	Import

	totals Totals
	// first is the line of each id that was read.
	first map[uuid.UUID]int32
	batch []Row
	size  int
	began time.Time
	told  time.Time
}

// Run imports all rows. An error tells why it ended before; running again goes on from there.
func (i Import) Run(ctx context.Context) (Totals, error) {
	r := &run{Import: i, first: map[uuid.UUID]int32{}, began: i.Clock()}
	r.told = r.began
	err := r.rows(ctx)
	if _, ok := errors.AsType[*FileError](err); ok { // What stands before is good.
		err = errors.Join(r.flush(ctx), err)
	}
	r.tell()
	return r.totals, err
}

func (r *run) rows(ctx context.Context) error {
	for {
		row, err := r.Rows.Next()
		if errors.Is(err, io.EOF) {
			return r.flush(ctx)
		}
		if err != nil {
			return err
		}
		if r.totals.Rows++; r.totals.Rows > MaxRows {
			return &FileError{Line: row.Line, Err: errTooManyRows}
		}
		r.once(&row)
		r.batch = append(r.batch, row)
		r.size += row.Size
		if len(r.batch) >= batchRows || r.size >= batchBytes {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// once rejects a row of an id that an earlier row has.
func (r *run) once(row *Row) {
	canonical, ok := fields.ParseUUID(row.Gift.GetId())
	if !ok {
		return // Which the rules refuse.
	}
	id := uuid.MustParse(canonical)
	if line, twice := r.first[id]; twice {
		row.Faults = append(row.Faults, problem.Violation{
			Field: "id", Code: problem.FieldDuplicate, Message: fmt.Sprintf("stands in line %d already", line),
		})
		return
	}
	r.first[id] = int32(row.Line) //nolint:gosec // A file of two billion lines has too many rows.
}

// flush imports the batch and reports it.
func (r *run) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	results, err := r.send(ctx)
	if err != nil {
		return fmt.Errorf("import of the rows from line %d: %w", r.batch[0].Line, err)
	}
	for _, row := range r.batch {
		entry := Entry{Line: row.Line, ID: row.Gift.GetId(), Outcome: Rejected, Errors: faultsOf(row.Faults)}
		if len(row.Faults) == 0 {
			entry.Outcome, entry.Errors = outcome(results[0])
			results = results[1:]
		}
		r.totals.count(entry.Outcome)
		if err := r.Report.Write(entry); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	r.batch, r.size = r.batch[:0], 0
	if now := r.Clock(); now.Sub(r.told) >= progressEvery {
		r.told = now
		r.tell()
	}
	if err := r.Report.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func outcome(result *catalogv1.ImportResult) (string, []Fault) {
	faults := []Fault{}
	for _, e := range result.GetErrors() {
		faults = append(faults, Fault{Field: e.GetField(), Code: e.GetCode(), Message: e.GetMessage()})
	}
	switch result.GetOutcome() {
	case catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED:
		return Created, faults
	case catalogv1.ImportOutcome_IMPORT_OUTCOME_UPDATED:
		return Updated, faults
	case catalogv1.ImportOutcome_IMPORT_OUTCOME_UNCHANGED:
		return Unchanged, faults
	case catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED, catalogv1.ImportOutcome_IMPORT_OUTCOME_UNSPECIFIED:
	}
	return Rejected, faults
}

func (t *Totals) count(outcome string) {
	switch outcome {
	case Created:
		t.Created++
	case Updated:
		t.Updated++
	case Unchanged:
		t.Unchanged++
	default:
		t.Rejected++
	}
}

func (r *run) tell() {
	t := r.totals
	done := t.Created + t.Updated + t.Unchanged + t.Rejected
	seconds := r.Clock().Sub(r.began).Seconds()
	_, _ = fmt.Fprintf(r.Progress, "%d rows: %d created, %d updated, %d unchanged, %d rejected; %.0f s, %.0f rows/s\n",
		done, t.Created, t.Updated, t.Unchanged, t.Rejected, seconds, float64(done)/max(seconds, 0.001))
}
