package seal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
)

// Reasons why an older key is still needed, beside [ErrBroken].
var (
	// ErrStillSealing: a running process still seals under an older key.
	ErrStillSealing = errors.New("values are still being sealed under an older key: restart the service with the new ring first")
	// ErrKeyInUse: a column has values of an older key.
	ErrKeyInUse = errors.New("an older key is still needed: restart the service with the new ring, and re-encrypt again")
)

const (
	batchSize = 500
	// maxPasses bounds how often the table is read again because a pass found something to do.
	maxPasses = 5
	// finalCheckTimeout is that of each statement of the last check. It passes the index entries of all values that were replaced,
	// until a vacuum has removed them.
	finalCheckTimeout = 10 * time.Minute
)

// Table has sealed columns. Its rows are identified by tenant_id and id.
type Table struct {
	Name    string
	Columns []Column
	// IntegerID means that id is an integer and not a UUID.
	IntegerID bool
}

func (t Table) idType() string {
	if t.IntegerID {
		return "int"
	}
	return "uuid"
}

// Column holds sealed values. One that is empty or NULL is skipped.
type Column struct {
	Name string
	// AssociatedData returns the associated data of the row with the id.
	AssociatedData func(id string) string
}

// ReEncrypt seals the columns of a table again with the first of the keys, so that an older key can leave the ring, and reports its
// progress on out. After success no value of the table needs another key.
//
// It runs while services use the table: it holds no lock between batches and never overwrites a concurrent change. It can be
// stopped and started again at any time and keeps its progress.
func ReEncrypt(ctx context.Context, database postgres.Config, keys string, table Table, out io.Writer) error {
	ring, err := ParseRing(keys)
	if err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	return (&reEncryption{pool: pool, ring: ring, table: table, batchSize: batchSize, out: out}).run(ctx)
}

// reEncryption is a re-encryption of one table.
type reEncryption struct {
	pool      *pgxpool.Pool
	ring      *Ring
	table     Table
	batchSize int
	out       io.Writer
}

// position of a row in the order of a pass.
type position struct{ tenantID, id string }

// start is before every row, because no tenant has the nil UUID. The id needs only the right type.
func (t Table) start() position {
	if t.IntegerID {
		return position{uuid.Nil.String(), "0"}
	}
	return position{uuid.Nil.String(), uuid.Nil.String()}
}

// counts of a batch or a pass.
type counts struct {
	rows, values int
	// missed values were changed concurrently, broken ones do not open.
	missed, broken int
}

// run runs passes until one finds nothing to do.
func (r *reEncryption) run(ctx context.Context) error {
	for range maxPasses {
		done, err := r.runPass(ctx)
		if err != nil || done {
			return err
		}
	}
	return ErrStillSealing
}

// runPass reads the whole table once and reports whether it found nothing to do.
func (r *reEncryption) runPass(ctx context.Context) (done bool, err error) {
	// Counting would read every row.
	var estimate int
	sql := fmt.Sprintf("SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = '%s'::regclass", r.table.Name)
	if err := r.pool.QueryRow(ctx, sql).Scan(&estimate); err != nil {
		return false, fmt.Errorf("estimate rows: %w", err)
	}
	var total counts
	// A terminal shows a bar. Elsewhere each batch writes a line.
	bar, lines := daemon.NewProgressBar(daemon.OnTerminal(r.out), r.table.Name+" checked", estimate), daemon.ProgressLines(r.out)
	for at := r.table.start(); ; {
		last, c, err := r.nextBatch(ctx, at)
		if err != nil {
			return false, err
		}
		total.rows, total.values = total.rows+c.rows, total.values+c.values
		total.missed, total.broken = total.missed+c.missed, total.broken+c.broken
		bar.Add(c.rows)
		if c.rows < r.batchSize {
			bar.End()
			r.report(r.out, total, estimate)
			break
		}
		r.report(lines, total, estimate)
		at = last
	}
	done = total.values+total.missed == 0
	if done && total.broken > 0 {
		return false, fmt.Errorf("%w with any key of the ring: %d of %s", ErrBroken, total.broken, r.table.Name)
	}
	return done, nil
}

// report is about progress only, so a failure to write it is ignored.
func (r *reEncryption) report(to io.Writer, total counts, estimate int) {
	_, _ = fmt.Fprintf(to, "checked %d of about %d %s, re-encrypted %d values\n",
		total.rows, max(estimate, total.rows), r.table.Name, total.values)
}

// nextBatch re-encrypts the next batch of rows after a position and returns the position of its last row.
func (r *reEncryption) nextBatch(ctx context.Context, after position) (last position, c counts, err error) {
	last = after
	rows, err := r.pool.Query(ctx, r.selectSealed(), after.tenantID, after.id, r.batchSize, r.ring.Prefix())
	if err != nil {
		return last, c, fmt.Errorf("read sealed values: %w", err)
	}
	changes := make([]replacements, len(r.table.Columns))
	values := make([][]byte, len(r.table.Columns))
	targets := []any{&last.tenantID, &last.id}
	for i := range values {
		targets = append(targets, &values[i])
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		c.rows++
		for i, old := range values {
			if len(old) > 0 && !changes[i].add(r.ring, r.table.Columns[i], last, old) {
				c.broken++
				_, _ = fmt.Fprintf(r.out, "%s of %s %s does not open\n", r.table.Columns[i].Name, r.table.Name, last.id)
			}
		}
		return nil
	})
	if err != nil {
		return last, c, fmt.Errorf("read sealed values: %w", err)
	}
	for i, column := range r.table.Columns {
		replaced, err := r.replace(ctx, column.Name, changes[i])
		if err != nil {
			return last, c, err
		}
		c.values, c.missed = c.values+replaced, c.missed+len(changes[i].ids)-replaced
	}
	return last, c, nil
}

// selectSealed leaves out values that are already sealed under the active key.
func (r *reEncryption) selectSealed() string {
	var columns []string
	for _, c := range r.table.Columns {
		columns = append(columns, fmt.Sprintf("CASE WHEN substring(%[1]s FOR length($4::bytea)) = $4 THEN NULL ELSE %[1]s END", c.Name))
	}
	return fmt.Sprintf(`SELECT tenant_id, id::text AS row_id, %s FROM %s
WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT $3`,
		strings.Join(columns, ", "), r.table.Name)
}

// replacements are values of one column to replace.
type replacements struct {
	tenants, ids  []string
	before, after [][]byte
}

func (c *replacements) add(ring *Ring, column Column, at position, old []byte) (opens bool) {
	associated := column.AssociatedData(at.id)
	plain, err := ring.Open(old, associated)
	if err != nil {
		return false
	}
	c.tenants, c.ids = append(c.tenants, at.tenantID), append(c.ids, at.id)
	c.before, c.after = append(c.before, old), append(c.after, ring.Seal(plain, associated))
	return true
}

// replace changes only values that still equal the ones read, so that it undoes no concurrent change.
func (r *reEncryption) replace(ctx context.Context, column string, c replacements) (replaced int, err error) {
	if len(c.ids) == 0 {
		return 0, nil
	}
	sql := fmt.Sprintf(`UPDATE %[1]s SET %[2]s = r.after
FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[]) AS r (tenant_id, id, before, after)
WHERE %[1]s.tenant_id = r.tenant_id AND %[1]s.id = r.id::%[3]s AND %[1]s.%[2]s = r.before`, r.table.Name, column, r.table.idType())
	tag, err := r.pool.Exec(ctx, sql, c.tenants, c.ids, c.before, c.after)
	if err != nil {
		return 0, fmt.Errorf("re-encrypt: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// CheckReEncrypted checks, after a re-encryption, that each column of the ring needs only the first key. It finds a column that the
// re-encryption does not know, and values that an instance with an older ring has sealed since.
func CheckReEncrypted(ctx context.Context, database postgres.Config, ring CheckedRing) error {
	pool, err := postgres.Open(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := findKeys(ctx, pool, finalCheckTimeout, ring)
	if err != nil {
		return fmt.Errorf("list the keys in use: %w", err)
	}
	first := keyID(ring.keys.Prefix())
	for _, use := range all.uses {
		if use.keyID != first {
			err = errors.Join(err, fmt.Errorf("%w: %s has values sealed with key %q", ErrKeyInUse, use.column, use.keyID))
		}
	}
	return err
}
