package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const (
	// After freeTries there is a pause, and after each further try one that is twice as long, up to maxDoublings times.
	freeTries    = 5
	firstPause   = time.Hour
	maxDoublings = 5
)

const (
	// If the clock of the database was set back, no try is further away than the longest pause.
	countTry = `UPDATE links SET reopen_tries = reopen_tries + 1,
  reopen_after = CASE WHEN reopen_tries + 1 >= $3 THEN now() + $4::interval * 2 ^ least(reopen_tries + 1 - $3, $5) END
WHERE tenant_id = $1 AND id = $2
  AND (reopen_after IS NULL OR reopen_after <= now() OR reopen_after > now() + $4::interval * 2 ^ $5)
RETURNING reopen_tries, coalesce(reopen_after - now(), '0')`

	selectPause = `SELECT reopen_after - now() FROM links WHERE tenant_id = $1 AND id = $2 AND reopen_after > now()`

	resetTries = `UPDATE links SET reopen_tries = 0, reopen_after = NULL WHERE tenant_id = $1 AND id = $2`
)

// Try is a try to reopen a claimed gift.
type Try struct {
	Allowed bool
	// Left is how many tries are left after it. If none is, there is a Pause before the next one.
	Left  int32
	Pause time.Duration
}

// CountTry counts a try to reopen the claimed gift, if it is allowed now. The count is committed before the digits are compared, so
// neither a crash nor calls at the same time give more tries.
func (s *Store) CountTry(ctx context.Context, tenantID, id string) (Try, error) {
	var made int32
	try := Try{Allowed: true}
	err := s.pool.QueryRow(ctx, countTry, tenantID, id, freeTries, firstPause, maxDoublings).Scan(&made, &try.Pause)
	if errors.Is(err, pgx.ErrNoRows) {
		try.Allowed = false
		err = s.pool.QueryRow(ctx, selectPause, tenantID, id).Scan(&try.Pause)
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // The pause may have just ended.
		return Try{}, fmt.Errorf("count try: %w", err)
	}
	try.Left = max(0, freeTries-made)
	return try, nil
}

// Reopen lets the form see the claimed gift for as long as a draft is kept, and resets the count of tries.
func (s *Store) Reopen(ctx context.Context, tokenHash, nonceHash []byte) error {
	link, draft, err := s.SaveDraft(ctx, tokenHash, nonceHash,
		func(l *rules.Link, stored *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error) {
			if l.Record.GetStatus() != rules.Claimed {
				return nil, nil //nolint:nilnil // A restored database has it open again.
			}
			if stored == nil {
				stored = &linksv1.ClaimDraft{}
			}
			stored.Reopened = true
			return stored, nil
		})
	if err != nil || draft == nil {
		return err
	}
	_, err = postgres.Exec(ctx, s.pool, "reset tries", resetTries, link.TenantID, link.Record.GetId())
	return err
}
