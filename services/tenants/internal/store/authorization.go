package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Authorization is the acting person of a call and the permission that the call needs.
type Authorization struct {
	Actor *commonv1.Actor
	Needs caller.Permission
}

var selectActing = team.read + ` WHERE tenant_id = $1 AND id = $2 AND active`

// permit refuses an actor who may not make the call for the tenant. A member of a team who is not an active one of this tenant gets
// ErrNotFound, as for a tenant that does not exist. In a transaction that changes something, the caller holds the lock of the
// tenant's row: every change of the team takes it too, so the membership lasts until the transaction ends.
func (b Authorization) permit(ctx context.Context, tx pgx.Tx, tenantID string) error {
	team, err := b.team(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	return b.Needs.Check(b.Actor, team)
}

// team has the acting member only. It is empty for an actor who is not an account of a tenant.
func (b Authorization) team(ctx context.Context, tx pgx.Tx, tenantID string) ([]*tenantsv1.TeamMember, error) {
	if b.Actor.GetKind() != commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT {
		return nil, nil
	}
	id, ok := fields.ParseUUID(b.Actor.GetId())
	if !ok || id != b.Actor.GetId() {
		return nil, ErrNotFound
	}
	acting, err := postgres.SelectOne(ctx, tx, "read acting member", ErrNotFound, scanMember, selectActing, tenantID, id)
	if err != nil {
		return nil, err
	}
	return []*tenantsv1.TeamMember{acting}, nil
}

// readPermitted calls work for an actor who may read, in one snapshot with the check.
func (s *Store) readPermitted(ctx context.Context, tenantID string, by Authorization, work func(tx pgx.Tx) error) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return translate(postgres.InTxWith(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
		if err := by.permit(ctx, tx, tenantID); err != nil {
			return err
		}
		return work(tx)
	}))
}

const selectExists = `SELECT true FROM tenants WHERE id = $1`

// requireTenant fails with pgx.ErrNoRows unless the tenant exists.
func requireTenant(ctx context.Context, tx pgx.Tx, tenantID string) error {
	var exists bool
	if err := tx.QueryRow(ctx, selectExists, tenantID).Scan(&exists); err != nil {
		return fmt.Errorf("find tenant: %w", err)
	}
	return nil
}

// Permit refuses an actor who may not make the call for the tenant; ErrNotFound without the tenant.
func (s *Store) Permit(ctx context.Context, tenantID string, by Authorization) error {
	return s.readPermitted(ctx, tenantID, by, func(tx pgx.Tx) error { return requireTenant(ctx, tx, tenantID) })
}
