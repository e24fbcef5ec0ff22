package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const (
	draftLifetime = 24 * time.Hour
	// maxDrafts bounds the drafts of a link, because a caller with its address can begin any number of forms.
	maxDrafts = 20
)

// latestExpiry is beyond that of every draft, even after a fail-over to a server whose clock is a little behind. A draft that
// expires later was saved while the database's clock was ahead.
const latestExpiry = `now() + interval '25 hours'`

const (
	selectDraft = `SELECT d.id, d.draft_sealed, d.expires_at > now() AND d.expires_at < ` + latestExpiry + ` FROM form_drafts d
JOIN links l ON l.tenant_id = d.tenant_id AND l.id = d.link_id WHERE l.token_hash = $1 AND d.nonce_hash = $2`

	upsertDraft = `INSERT INTO form_drafts (tenant_id, id, link_id, nonce_hash, draft_sealed, expires_at)
VALUES ($1, $2, $3, $4, $5, now() + $6::interval)
ON CONFLICT (tenant_id, id) DO UPDATE SET draft_sealed = EXCLUDED.draft_sealed, expires_at = EXCLUDED.expires_at`

	deleteOldest = `DELETE FROM form_drafts WHERE tenant_id = $1 AND id IN (
  SELECT id FROM form_drafts WHERE tenant_id = $1 AND link_id = $2 ORDER BY expires_at DESC, id OFFSET $3)`

	deleteDraft = `DELETE FROM form_drafts d USING links l
WHERE l.token_hash = $1 AND d.tenant_id = l.tenant_id AND d.link_id = l.id AND d.nonce_hash = $2`

	deleteDraftsOf = `DELETE FROM form_drafts WHERE tenant_id = $1 AND link_id = $2`

	deleteExpired = `DELETE FROM form_drafts WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM form_drafts
  WHERE expires_at < now() - $1::interval OR expires_at > ` + latestExpiry + ` + $1::interval
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

var lockByToken = selectByToken + ` FOR UPDATE OF l`

// draftRow is a row of form_drafts; its id is empty if there is none.
type draftRow struct {
	id     string
	sealed []byte
	valid  bool
}

func (d *draftRow) scan(row pgx.Row) error {
	*d = draftRow{}
	err := row.Scan(&d.id, &d.sealed, &d.valid)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// Draft reads the draft of a form; nil if there is none, or it has expired.
func (s *Store) Draft(ctx context.Context, tokenHash, nonceHash []byte) (*linksv1.ClaimDraft, error) {
	var row draftRow
	if err := row.scan(s.pool.QueryRow(ctx, selectDraft, tokenHash, nonceHash)); err != nil {
		return nil, fmt.Errorf("read draft: %w", err)
	}
	return s.openDraft(row)
}

func (s *Store) openDraft(row draftRow) (*linksv1.ClaimDraft, error) {
	if !row.valid {
		return nil, nil //nolint:nilnil // There is none.
	}
	plain, err := s.ring.Open(row.sealed, ofDraft(row.id))
	if err != nil {
		return nil, fmt.Errorf("draft %s: %w", row.id, err)
	}
	draft := &linksv1.ClaimDraft{}
	if proto.Unmarshal(plain, draft) != nil {
		return nil, errDraft // The cause could quote personal data.
	}
	return draft, nil
}

var errDraft = errors.New("a draft cannot be decoded")

// NextDraft decides on the next draft of a form, from the locked link and the draft so far, which may be nil. If it returns nil,
// nothing is saved.
type NextDraft func(l *rules.Link, draft *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error)

// SaveDraft stores the next draft of a form. Calls for one link run one after another, and none stores a draft of a link that
// another call has ended or erased.
func (s *Store) SaveDraft(
	ctx context.Context, tokenHash, nonceHash []byte, decide NextDraft,
) (link *rules.Link, draft *linksv1.ClaimDraft, err error) {
	var row draftRow
	err = postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			draft = nil
			postgres.QueueSelectFirst(b, &link, s.scanLink, lockByToken, tokenHash)
			// A statement of its own, so that it sees what the previous holder of the lock has committed.
			b.Queue(selectDraft, tokenHash, nonceHash).QueryRow(row.scan)
		},
		func() (func(b *pgx.Batch), error) {
			if link == nil {
				return nil, ErrNotFound
			}
			stored, err := s.openDraft(row)
			if err != nil {
				return nil, err
			}
			if draft, err = decide(link, stored); err != nil || draft == nil {
				return nil, err
			}
			return s.queueDraft(link, row.id, nonceHash, draft)
		})
	if err != nil {
		return nil, nil, fmt.Errorf("save draft: %w", err)
	}
	return link, draft, nil
}

func (s *Store) queueDraft(l *rules.Link, id string, nonceHash []byte, draft *linksv1.ClaimDraft) (func(b *pgx.Batch), error) {
	plain, err := proto.Marshal(draft)
	if err != nil {
		return nil, errDraft
	}
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	sealed, linkID := s.ring.Seal(plain, ofDraft(id)), l.Record.GetId()
	return func(b *pgx.Batch) {
		b.Queue(upsertDraft, l.TenantID, id, linkID, nonceHash, sealed, draftLifetime)
		b.Queue(deleteOldest, l.TenantID, linkID, maxDrafts)
	}, nil
}

// DeleteDraft deletes the draft of a form.
func (s *Store) DeleteDraft(ctx context.Context, tokenHash, nonceHash []byte) error {
	_, err := postgres.Exec(ctx, s.pool, "delete draft", deleteDraft, tokenHash, nonceHash)
	return err
}

// DeleteExpiredDrafts deletes up to limit drafts that expired longer ago than lag by the database's clock, or expire later than
// latestExpiry by more than lag, and returns how many.
func (s *Store) DeleteExpiredDrafts(ctx context.Context, lag time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "delete expired drafts", deleteExpired, lag, limit)
}

func ofDraft(id string) string { return "form_drafts.draft_sealed/" + id }

func sealedDrafts() seal.Table {
	return seal.Table{Name: "form_drafts", Columns: []seal.Column{{Name: "draft_sealed", AssociatedData: ofDraft}}}
}
