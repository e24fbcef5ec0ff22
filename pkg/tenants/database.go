package tenants

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// Database has rows of tenants.
type Database struct {
	Pool *pgxpool.Pool
	// Tables are all of its tables that have rows of tenants, in the order in which they are erased.
	Tables []Table
	// InFlight are queries of how much still has to end before the tenant, whose id is $1, can be erased.
	InFlight []string
	// Ring opens the sealed columns; nil without them.
	Ring *seal.Ring
	// Events opens the events; nil without them.
	Events *seal.EventReader
}

const (
	// batch bounds how long a transaction of an erasure holds its locks: it deletes fewer than twice as many rows.
	batch = 1000
	// A large tenant has more rows than can be counted, or a batch of them be found, in the time that a statement usually has.
	countTimeout = `SET LOCAL statement_timeout = '10min'`
	eraseTimeout = `SET LOCAL statement_timeout = '60s'`
	// rowByRow finds the rows of a batch by index, even if the planner underestimates how many rows it would read otherwise.
	rowByRow = `; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`
)

// Count counts the rows of the tenant in every table, in one snapshot.
func (d *Database) Count(ctx context.Context, tenant Tenant) (tables []*privacyv1.TableRows, inFlight int64, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = postgres.InTxWith(ctx, d.Pool, snapshot, func(tx pgx.Tx) error {
		tables, inFlight = nil, 0
		if _, err := tx.Exec(ctx, countTimeout); err != nil {
			return fmt.Errorf("set timeout: %w", err)
		}
		for _, t := range d.Tables {
			rows := &privacyv1.TableRows{Table: t.Name, Kept: t.Kept}
			if err := tx.QueryRow(ctx, t.countSQL(), t.args(tenant)...).Scan(&rows.Rows); err != nil {
				return fmt.Errorf("count rows of %s: %w", t.Name, err)
			}
			tables = append(tables, rows)
		}
		for _, query := range d.InFlight {
			var n int64
			if err := tx.QueryRow(ctx, query, tenant.ID).Scan(&n); err != nil {
				return fmt.Errorf("count what is in flight: %w", err)
			}
			inFlight += n
		}
		return nil
	})
	return tables, inFlight, err
}

// Erase deletes a batch of the tenant's rows in one transaction, and reports whether none is left.
func (d *Database) Erase(ctx context.Context, tenant Tenant) (done bool, err error) {
	err = postgres.InTx(ctx, d.Pool, func(tx pgx.Tx) (err error) {
		done, err = d.EraseIn(ctx, tx, tenant)
		return err
	})
	return done, err
}

// EraseIn is Erase in a transaction of the caller.
func (d *Database) EraseIn(ctx context.Context, tx pgx.Tx, tenant Tenant) (done bool, err error) {
	if _, err := tx.Exec(ctx, eraseTimeout+rowByRow); err != nil {
		return false, fmt.Errorf("set timeout and plan: %w", err)
	}
	erased := int64(0)
	for _, t := range d.Tables {
		if t.Kept != "" {
			continue
		}
		tag, err := tx.Exec(ctx, t.eraseSQL(), t.args(tenant)...)
		if err != nil {
			return false, fmt.Errorf("erase rows of %s: %w", t.Name, err)
		}
		if erased += tag.RowsAffected(); erased >= batch {
			return false, nil
		}
	}
	return true, nil
}

// ErrExportCursor refuses a cursor that Export did not return.
var ErrExportCursor = errors.New("not a cursor of an export")
