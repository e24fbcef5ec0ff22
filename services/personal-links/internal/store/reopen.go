package store

import (
	"context"
	"time"

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
	countTry = `UPDATE links SET reopen_tries = reopen_tries + 1,
  reopen_after = CASE WHEN reopen_tries + 1 >= $3 THEN now() + $4::interval * 2 ^ least(reopen_tries + 1 - $3, $5) END
WHERE tenant_id = $1 AND id = $2 AND (reopen_after IS NULL OR reopen_after <= now())`

	forgetTries = `UPDATE links SET reopen_tries = 0, reopen_after = NULL WHERE tenant_id = $1 AND id = $2`
)

// CountTry counts a try to reopen the claimed gift, and reports whether it is allowed now. The count is committed before the
// digits are compared, so neither a crash nor calls at the same time give more tries.
func (s *Store) CountTry(ctx context.Context, tenantID, id string) (bool, error) {
	n, err := postgres.Exec(ctx, s.pool, "count try", countTry, tenantID, id, freeTries, firstPause, maxDoublings)
	return n > 0, err
}

// Reopen lets the form see the claimed gift for as long as a draft is kept, and forgets the tries.
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
	_, err = postgres.Exec(ctx, s.pool, "forget tries", forgetTries, link.TenantID, link.Record.GetId())
	return err
}
