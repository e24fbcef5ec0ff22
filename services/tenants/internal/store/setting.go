package store

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// How a column of a setting is used.
const (
	written  postgres.Use = 1 << iota // by the INSERT
	changed                           // by the UPDATE, if the record exists
	shown                             // by reads
	inAudit                           // by the audit, which has no personal data: of a member neither name nor address
	inRecord                          // by reads of the operations plane, besides what is shown

	setUp = written | changed | shown | inAudit
)

// setting is a kind of record in the settings of a tenant, with rows of type R.
type setting[R any] struct {
	table, conflict string
	// condition finds the record $2 of the tenant $1.
	condition string
	action    tenantsv1.TenantAction
	// setClause begins what a change sets.
	setClause string
	columns   postgres.Columns[R]
	// blank is a row to read into.
	blank func() *R

	readColumns  postgres.Columns[R]
	read, upsert string
}

// prepared returns the setting with its statements. The upsert changes no row if nothing differs.
func (s setting[R]) prepared() setting[R] {
	changing := s.columns.For(changed)
	s.readColumns = s.columns.For(shown)
	s.read = "SELECT " + s.readColumns.Select() + " FROM " + s.table
	s.upsert = s.columns.For(written).Insert(s.table+" AS stored") + " ON CONFLICT (" + s.conflict + ") DO UPDATE " +
		cmp.Or(s.setClause, "SET ") + changing.Excluded() + " WHERE " + changing.Differ("stored")
	return s
}

func (s setting[R]) scan(row pgx.CollectableRow) (*R, error) {
	r := s.blank()
	return r, row.Scan(s.readColumns.Targets(r)...)
}

// stored is the record before a change; nil if there is none. The caller holds the lock of the tenant.
func (s setting[R]) stored(ctx context.Context, tx pgx.Tx, tenantID, subject string) (*R, error) {
	before, err := postgres.SelectOne(ctx, tx, "read state before the change", ErrNotFound, s.scan,
		s.read+" WHERE "+s.condition, tenantID, subject)
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // There is no record yet.
	}
	return before, err
}

// put adds or replaces a record, and records the change in the audit. subject is its id; empty for the tenant itself.
func (s setting[R]) put(
	ctx context.Context, tx pgx.Tx, by Authorization, tenantID, subject string, after *R,
) (changed bool, err error) {
	before, err := s.stored(ctx, tx, tenantID, subject)
	if err != nil {
		return false, err
	}
	return s.replace(ctx, tx, by, tenantID, subject, before, after)
}

// replace is put for a caller who has read the record.
func (s setting[R]) replace(
	ctx context.Context, tx pgx.Tx, by Authorization, tenantID, subject string, before, after *R,
) (changed bool, err error) {
	rows, err := postgres.Exec(ctx, tx, "put "+s.table, s.upsert, s.columns.For(written).Args(after)...)
	if err != nil || rows == 0 {
		return false, err
	}
	a := auditedChange{by: by, action: s.action, before: s.state(before), after: s.state(after)}
	return true, a.record(ctx, tx, tenantID, subject)
}

// state is what the audit shows of a record, without what it does not have.
func (s setting[R]) state(r *R) map[string]any {
	if r == nil {
		return nil
	}
	state := map[string]any{}
	for column, value := range s.columns.For(inAudit).Values(r) {
		switch v := value.(type) {
		case *string:
			if v == nil {
				continue
			}
		case []deliveryTime:
			if len(v) == 0 {
				continue
			}
		}
		state[memberName(column)] = value
	}
	return state
}

// memberName is the name of a column in the API.
func memberName(column string) string {
	words := strings.Split(column, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
