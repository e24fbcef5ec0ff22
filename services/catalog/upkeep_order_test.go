package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// A change must take its time from the clock after every change before it can be read. The test
// stands in for a change under way by holding its lock.
func TestAChangeTakesItsTimeAfterTheOneBeforeHasCommitted(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "1"}}
	})
	s.put(p)
	for name, change := range map[string]func() error{
		"a gift": func() error {
			p.Name += "!"
			_, err := s.ops.PutProduct(t.Context(), p)
			return err
		},
		"a region": func() error {
			_, err := s.ops.PutRegion(t.Context(), &catalogv1.PutRegionRequest{Code: "NORDICS"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := s.db.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = before.Rollback(context.WithoutCancel(t.Context())) }()
			_, err = before.Exec(t.Context(), `SELECT pg_advisory_xact_lock(4713001)`)
			require.NoError(t, err)
			changed := make(chan error, 1)
			go func() { changed <- change() }()
			committed := s.clockOnceSomebodyWaits(before)
			require.NoError(t, before.Commit(t.Context()))
			require.NoError(t, <-changed)

			entries := s.changedSince(committed)
			require.Len(t, entries, 1)
			require.True(t, entries[0].GetProduct().GetUpdatedAt().AsTime().After(committed))
		})
	}
}

// clockOnceSomebodyWaits gives the database's clock at a moment when a change waits for tx.
func (s *stack) clockOnceSomebodyWaits(tx pgx.Tx) (clock time.Time) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var waiting bool
		err := tx.QueryRow(s.t.Context(), `SELECT clock_timestamp(), EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&clock, &waiting)
		return err == nil && waiting
	}, 5*time.Second, 5*time.Millisecond, "the change must wait for the one under way")
	return clock
}
