// Package importer imports gifts from a file into the catalog: the command `giftingctl catalog import`.
//
// It reads the file as a stream and sends the gifts in batches to the running catalog service, by the rules of PutProduct, which
// stores a single gift. After an interruption or an error, the same command is run again: it sends all rows again, and a gift that
// is already as in the file is not changed. An invalid row, and one whose id is in an earlier row, is reported and the others are
// imported. Where a file cannot be read further, the import ends with an error that names the line. At any moment the report covers
// all that was imported, except for a batch whose response was lost.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// batchRows bounds how long other changes of the catalog wait for a batch.
	batchRows = 200
	// batchBytes keeps a batch well below the limit of a call.
	batchBytes = 4 << 20
	// progressInterval is how often the progress is reported.
	progressInterval = 2 * time.Second
)

var errTooManyRows = errors.New("the file has more than 1,000,000 rows; split it")

// Import is an import of a file.
type Import struct {
	Rows    Rows
	Catalog catalogv1.ImportServiceClient
	Report  Report
	// Progress is written every two seconds and at the end.
	Progress io.Writer
	Clock    func() time.Time
}

// Totals of an import.
type Totals struct {
	Rows, Created, Updated, Unchanged, Rejected int
}

// run is an import in progress.
type run struct {
	Import

	totals Totals
	// lines maps the ids read so far to their lines.
	lines     map[uuid.UUID]int32
	batch     []Row
	size      int
	startedAt time.Time
	// progressAt is when the progress was last written.
	progressAt time.Time
}

// Run imports all rows. After an error, another run imports what is missing and finds the rest unchanged.
func (i Import) Run(ctx context.Context) (Totals, error) {
	r := &run{Import: i, lines: map[uuid.UUID]int32{}, startedAt: i.Clock()}
	r.progressAt = r.startedAt
	err := r.importRows(ctx)
	if _, ok := errors.AsType[*FileError](err); ok { // Import the rows before the error.
		err = errors.Join(r.flush(ctx), err)
	}
	r.writeProgress()
	return r.totals, err
}

func (r *run) importRows(ctx context.Context) error {
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
		r.checkUnique(&row)
		r.batch = append(r.batch, row)
		r.size += row.Size
		if len(r.batch) >= batchRows || r.size >= batchBytes {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// checkUnique rejects a row that has the id of an earlier row.
func (r *run) checkUnique(row *Row) {
	canonical, ok := fields.ParseUUID(row.Gift.GetId())
	if !ok {
		return // The rules reject an invalid id.
	}
	id := uuid.MustParse(canonical)
	if line, found := r.lines[id]; found {
		row.Violations = append(row.Violations, problem.Violation{
			Field: "id", Code: problem.FieldDuplicate, Message: fmt.Sprintf("is already in line %d", line),
		})
		return
	}
	r.lines[id] = int32(row.Line) //nolint:gosec // A file of two billion lines has too many rows.
}

// RejectedEntry is the entry of a row with violations.
func RejectedEntry(row Row) Entry {
	return Entry{Line: row.Line, ID: row.Gift.GetId(), Outcome: Rejected, Errors: fieldErrors(row.Violations)}
}

// flush imports the batch and reports it.
func (r *run) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	results, err := r.importBatch(ctx)
	if err != nil {
		return fmt.Errorf("import of the rows from line %d: %w", r.batch[0].Line, err)
	}
	for _, row := range r.batch {
		entry := RejectedEntry(row)
		if len(row.Violations) == 0 {
			entry.Outcome, entry.Errors = outcome(results[0])
			results = results[1:]
		}
		r.totals.add(entry.Outcome)
		if err := r.Report.Write(entry); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	r.batch, r.size = r.batch[:0], 0
	if now := r.Clock(); now.Sub(r.progressAt) >= progressInterval {
		r.progressAt = now
		r.writeProgress()
	}
	if err := r.Report.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func outcome(result *catalogv1.ImportResult) (string, []FieldError) {
	errs := []FieldError{}
	for _, e := range result.GetErrors() {
		errs = append(errs, FieldError{Field: e.GetField(), Code: e.GetCode(), Message: e.GetMessage()})
	}
	return strings.ToLower(enumname.String(result.GetOutcome())), errs
}

func (t *Totals) add(outcome string) {
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

// String is a sentence about the totals.
func (t Totals) String() string {
	return fmt.Sprintf("%d rows: %d created, %d updated, %d unchanged, %d rejected",
		t.decided(), t.Created, t.Updated, t.Unchanged, t.Rejected)
}

// decided is the number of rows with an outcome.
func (t Totals) decided() int { return t.Created + t.Updated + t.Unchanged + t.Rejected }

func (r *run) writeProgress() {
	seconds := r.Clock().Sub(r.startedAt).Seconds()
	_, _ = fmt.Fprintf(r.Progress, "%s; %.0f s, %.0f rows/s\n", r.totals, seconds, float64(r.totals.decided())/max(seconds, 0.001))
}

const (
	// callTimeout includes the wait for other changes.
	callTimeout  = time.Minute
	maxAttempts  = 6
	firstBackoff = 200 * time.Millisecond
)

var errResultCount = errors.New("the catalog returned a wrong number of results")

// importBatch imports the valid rows of the batch. While the catalog is unavailable it tries again: a repeated import changes
// nothing.
func (r *run) importBatch(ctx context.Context) ([]*catalogv1.ImportResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // A batch without a valid row makes no call that could notice the interruption.
	}
	req := &catalogv1.ImportProductsRequest{}
	for _, row := range r.batch {
		if len(row.Violations) == 0 {
			req.Products = append(req.Products, row.Gift)
		}
	}
	if len(req.GetProducts()) == 0 {
		return nil, nil
	}
	backoff := firstBackoff
	for n := 1; ; n++ {
		resp, err := r.callCatalog(ctx, req)
		switch {
		case err == nil && len(resp.GetResults()) != len(req.GetProducts()):
			return nil, errResultCount
		case err == nil:
			return resp.GetResults(), nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case n == maxAttempts || !problem.Is(err, problem.ServiceUnavailable):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(backoff):
		}
		backoff *= 2
	}
}

func (r *run) callCatalog(ctx context.Context, req *catalogv1.ImportProductsRequest) (*catalogv1.ImportProductsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return r.Catalog.ImportProducts(ctx, req)
}
