// Package store holds the schema of the catalog database and all its statements.
//
// Changes of the catalog run one at a time under an advisory lock, so that updated_at grows in the order of the commits even if
// the clock jumps back. Reservations do not take the lock: they lock their own row, then that of the SKU.
package store

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the catalog.
func Migrations() postgres.Migrations {
	return postgres.Embedded("catalog", files)
}

// Store is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	sandbox bool
}

// New makes a store on a migrated database. In the sandbox, tenants change gifts for themselves.
func New(pool *pgxpool.Pool, sandbox bool) *Store { return &Store{pool: pool, sandbox: sandbox} }

// Pool returns the pool on which the store's transactions run.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// changeLock is held until the commit is visible, so that the next change reads the clock only after
// this one can be read.
const changeLock = `SELECT pg_advisory_xact_lock(4713001)`

// change runs work as the only change of the catalog.
func (s *Store) change(ctx context.Context, work func(tx pgx.Tx) error) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, changeLock); err != nil {
			return fmt.Errorf("wait for other changes: %w", err)
		}
		return work(tx)
	})
}

// statement is a query that reads gifts: as all tenants see them or, in the sandbox, as one tenant sees them, which may have
// changed them for itself. The tenant is then the last argument.
type statement struct {
	shared, ofTenant string
}

// newStatement makes a statement from a text in which {gifts} is replaced by the gifts. arguments is their number before the
// tenant.
func newStatement(text string, arguments int) statement {
	return statement{
		shared:   strings.ReplaceAll(text, "{gifts}", "products"),
		ofTenant: strings.ReplaceAll(text, "{gifts}", "sandbox_gifts($"+strconv.Itoa(arguments+1)+")"),
	}
}

// forTenant returns the text and the arguments of the statement for readers of the tenant.
func (s *Store) forTenant(tenantID string, st statement, args ...any) (string, []any) {
	if !s.sandbox {
		return st.shared, args
	}
	return st.ofTenant, append(args, tenantID)
}
