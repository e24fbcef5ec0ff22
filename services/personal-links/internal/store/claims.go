package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// LockClaim locks the link for a claim that is about to place the order, for as long as the lease. If the link cannot be
// claimed or another claim holds the lock, it is returned unchanged.
func (s *Store) LockClaim(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error) {
	return s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		return changeIf(l.LockClaim(orderID), Change{Lease: lease})
	})
}

// FinishClaim marks the link as claimed with the order of its claim. finished is false if the claim does not hold the lock.
func (s *Store) FinishClaim(
	ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
) (link *rules.Link, finished bool, err error) {
	link, err = s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		finished = l.FinishClaim(claimID, o, now)
		return changeIf(finished, Change{Event: rules.EventClaimed})
	})
	return link, finished, err
}

// UnlockClaim opens the link again after its claim was abandoned.
func (s *Store) UnlockClaim(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error) {
	return s.Update(ctx, tenantID, id, func(l *rules.Link) (*Change, error) {
		return changeIf(l.UnlockClaim(orderID), Change{})
	})
}

// changeIf returns nil if nothing changes, for instance because another call was first.
func changeIf(changed bool, c Change) (*Change, error) {
	if !changed {
		return nil, nil //nolint:nilnil // Nothing changes.
	}
	return &c, nil
}

// claimLeaseEnded is also true of a lease that the database's clock made long before it was set back: real ones last for seconds.
const claimLeaseEnded = `(claim_lease_until < now() OR claim_lease_until > now() + interval '1 hour')`

// Several instances share the work: each takes different links for the time of the lease.
const takeExpired = `UPDATE links l SET claim_lease_until = now() + $1::interval
FROM (
  SELECT tenant_id, id FROM links WHERE claim_order_id IS NOT NULL AND ` + claimLeaseEnded + `
  ORDER BY claim_lease_until LIMIT $2 FOR UPDATE SKIP LOCKED
) expired
WHERE l.tenant_id = expired.tenant_id AND l.id = expired.id
RETURNING l.tenant_id, l.id, l.claim_order_id`

// TakeExpiredClaims returns links whose claim did not finish within its lease, and takes a new lease on them. They have only
// the fields that reconciling needs and no sealed ones, so that a link that cannot be decrypted does not block the others.
func (s *Store) TakeExpiredClaims(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error) {
	return postgres.Select(ctx, s.pool, "take expired claims", func(row pgx.CollectableRow) (*rules.Link, error) {
		l := &rules.Link{Record: &linksv1.PersonalLink{}, ClaimExpired: true}
		return l, row.Scan(&l.TenantID, &l.Record.Id, &l.ClaimOrderID)
	}, takeExpired, lease, limit)
}

// Both statements use the primary key and read no sealed column.
const (
	claimRecordColumns = `SELECT l.tenant_id::text, l.id::text, l.status, l.order_id::text, l.claim_order_id IS NOT NULL FROM links l `

	selectClaimRecords = claimRecordColumns + `WHERE (l.tenant_id, l.id) > ($1, $2) AND l.status = 'CLAIMED'
ORDER BY l.tenant_id, l.id LIMIT $3`

	selectClaimRecordsOf = claimRecordColumns + `JOIN unnest($1::uuid[], $2::uuid[]) AS named (tenant_id, id) USING (tenant_id, id)
ORDER BY l.tenant_id, l.id`
)

// Name identifies a link.
type Name struct{ TenantID, ID string }

// ClaimRecords lists up to limit claimed links by tenant and id.
func (s *Store) ClaimRecords(ctx context.Context, after Name, limit int) ([]*linksv1.ClaimRecord, error) {
	return s.listClaims(ctx, selectClaimRecords, after.TenantID, after.ID, limit)
}

// ClaimRecordsOf lists the named links in every status.
func (s *Store) ClaimRecordsOf(ctx context.Context, links []Name) ([]*linksv1.ClaimRecord, error) {
	var tenants, ids []string
	for _, l := range links {
		tenants, ids = append(tenants, l.TenantID), append(ids, l.ID)
	}
	return s.listClaims(ctx, selectClaimRecordsOf, tenants, ids)
}

func (s *Store) listClaims(ctx context.Context, sql string, args ...any) ([]*linksv1.ClaimRecord, error) {
	return postgres.Select(ctx, s.pool, "list claims", func(row pgx.CollectableRow) (*linksv1.ClaimRecord, error) {
		r := &linksv1.ClaimRecord{Link: &linksv1.LinkName{}}
		return r, row.Scan(&r.Link.TenantId, &r.Link.LinkId, postgres.ScanEnum(&r.Status), &r.OrderId, &r.InFlight)
	}, sql, args...)
}

// RestoreClaim marks a link as claimed with the order that it has lost. If the link is claimed with an order that does not exist,
// lostOrderID is that order.
func (s *Store) RestoreClaim(
	ctx context.Context, link Name, o rules.ClaimOutcome, lostOrderID string, now time.Time,
) (*rules.Link, error) {
	return s.Update(ctx, link.TenantID, link.ID, func(l *rules.Link) (*Change, error) {
		return changeIf(l.RestoreClaim(o, lostOrderID, now), Change{Event: rules.EventClaimed})
	})
}
