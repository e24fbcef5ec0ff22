package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const (
	findPersonLinks = `SELECT id::text, order_id::text FROM (
  SELECT id, order_id FROM links WHERE tenant_id = $1 AND external_recipient_id = $2
  UNION SELECT id, order_id FROM links WHERE tenant_id = $1 AND id = ANY($3)
) of_person ORDER BY id LIMIT $4`

	selectRecipients = `SELECT DISTINCT external_recipient_id FROM links
WHERE tenant_id = $1 AND id = ANY($2) AND external_recipient_id IS NOT NULL`

	insertExport = `INSERT INTO link_audit (tenant_id, link_id, action, actor_kind, actor_id, at)
SELECT tenant_id, id, $3, $4, $5, now() FROM links WHERE tenant_id = $1 AND id = ANY($2)`

	// A link in a claim keeps its details until the claim has ended.
	eraseUnclaimed = `UPDATE links SET details_sealed = NULL WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM links
  WHERE details_sealed IS NOT NULL AND status IN ('REQUESTED', 'ACTIVE') AND claim_order_id IS NULL
    AND updated_at < now() - $1::interval
  ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

var (
	eraseLink = `UPDATE links SET ` + erasedColumns.Set(3) + ` WHERE tenant_id = $1 AND id = $2`

	selectLinks = fromLinks + `WHERE l.tenant_id = $1 AND l.id = ANY($2) ORDER BY l.id`
	lockLinks   = selectLinks + ` FOR UPDATE OF l`
)

// EraseUnclaimed erases the details of up to limit links that nobody has claimed for the retention by the database's clock, and
// returns how many. The links stay open, because links do not expire.
func (s *Store) EraseUnclaimed(ctx context.Context, retention time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "erase details of unclaimed links", eraseUnclaimed, retention, limit)
}

// PersonLinks reads up to limit links of a recipient or with one of the ids, by id, with the fields Id and OrderId only.
func (s *Store) PersonLinks(
	ctx context.Context, tenantID string, recipient *string, ids []string, limit int,
) ([]*linksv1.PersonalLink, error) {
	return postgres.Select(ctx, s.pool, "find links of a person", func(row pgx.CollectableRow) (*linksv1.PersonalLink, error) {
		l := &linksv1.PersonalLink{}
		return l, row.Scan(&l.Id, &l.OrderId)
	}, findPersonLinks, tenantID, recipient, ids, limit)
}

// Recipients reads the external ids of the recipients of links that are not erased.
func (s *Store) Recipients(ctx context.Context, tenantID string, ids []string) ([]string, error) {
	return postgres.Select(ctx, s.pool, "read recipients of links", pgx.RowTo[string], selectRecipients, tenantID, ids)
}

// ErasePersonalData erases the links in one transaction with events and audit, and returns them. If a claim of one is in flight,
// it erases nothing and returns that link with rules.ErrClaimLocked. Links that the tenant does not have are skipped. A link that
// is erased already is not audited again, because the call may be repeated each minute.
func (s *Store) ErasePersonalData(
	ctx context.Context, tenantID string, ids []string, by Audit, erasedURL string, now time.Time,
) (links []*rules.Link, locked *rules.Link, err error) {
	err = postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) { postgres.QueueSelect(b, &links, s.scanListed, lockLinks, tenantID, ids) },
		func() (write func(b *pgx.Batch), err error) {
			write, locked, err = s.queueErasure(ctx, links, by, erasedURL, now)
			return write, err
		})
	if err != nil {
		return nil, locked, fmt.Errorf("erase personal data: %w", err)
	}
	return links, nil, nil
}

func (s *Store) queueErasure(
	ctx context.Context, links []*rules.Link, by Audit, erasedURL string, now time.Time,
) (write func(b *pgx.Batch), locked *rules.Link, err error) {
	writes := &pgx.Batch{}
	var events []outbox.Event
	for _, l := range links {
		kind, changed, err := l.Erase(erasedURL, now)
		if err != nil {
			return nil, l, err
		}
		if kind != "" {
			event, err := s.newEvent(l, kind, 0)
			if err != nil {
				return nil, nil, err
			}
			events = append(events, event)
		}
		if changed {
			r := &row{Link: l, record: l.Record, url: s.ring.Seal([]byte(erasedURL), ofURL(l.Record.GetId()))}
			writes.Queue(eraseLink, erasedColumns.Args(r, l.TenantID, l.Record.GetId())...)
			by.queue(writes, l.TenantID, []string{l.Record.GetId()}, now)
		}
		writes.Queue(deleteDraftsOf, l.TenantID, l.Record.GetId())
	}
	return func(b *pgx.Batch) {
		for _, q := range writes.QueuedQueries {
			b.Queue(q.SQL, q.Arguments...)
		}
		outbox.AppendAll(ctx, b, events)
	}, nil, nil
}

// Export records that links are about to be read, and reads them. Links that the tenant does not have are skipped.
func (s *Store) Export(ctx context.Context, tenantID string, ids []string, by Audit) ([]*rules.Link, error) {
	if _, err := s.pool.Exec(ctx, insertExport, tenantID, ids, by.Action, by.ActorKind, by.ActorID); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return postgres.Select(ctx, s.pool, "read links", s.scanListed, selectLinks, tenantID, ids)
}
