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

var selectActingMember = team.read + ` WHERE tenant_id = $1 AND id = $2 AND active`

// permit refuses an actor who may not make the call for the tenant. A tenant account that is not an active member of the tenant's
// team gets ErrNotFound, as if the tenant did not exist. A transaction that writes has locked the tenant's row before. Changes of
// the team lock it too, so the member stays active until the transaction ends.
func (a Authorization) permit(ctx context.Context, tx pgx.Tx, tenantID string) error {
	members, err := a.actingMember(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	return a.Needs.Check(a.Actor, members)
}

// actingMember returns the member of the team who acts, or none if the actor is not a tenant account.
func (a Authorization) actingMember(ctx context.Context, tx pgx.Tx, tenantID string) ([]*tenantsv1.TeamMember, error) {
	if a.Actor.GetKind() != commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT {
		return nil, nil
	}
	id, ok := fields.ParseUUID(a.Actor.GetId())
	if !ok || id != a.Actor.GetId() {
		return nil, ErrNotFound
	}
	acting, err := postgres.SelectOne(ctx, tx, "read acting member", ErrNotFound, scanMember, selectActingMember, tenantID, id)
	if err != nil {
		return nil, err
	}
	return []*tenantsv1.TeamMember{acting}, nil
}

// readPermitted checks that the actor may read, and then calls work in the same snapshot.
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

// Permit refuses an actor who may not make the call for the tenant. It returns ErrNotFound if the tenant does not exist.
func (s *Store) Permit(ctx context.Context, tenantID string, by Authorization) error {
	return s.readPermitted(ctx, tenantID, by, func(tx pgx.Tx) error { return requireTenant(ctx, tx, tenantID) })
}
