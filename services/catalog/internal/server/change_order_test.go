package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// A change must read the clock only after the previous change can be read. The test holds the lock as a change would.
func TestAChangeReadsTheClockAfterThePreviousOneIsCommitted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "1"}}
	})
	f.put(p)
	for name, change := range map[string]func() error{
		"a gift": func() error {
			p.Name += "!"
			_, err := f.ops.PutProduct(t.Context(), p)
			return err
		},
		"a region": func() error {
			_, err := f.ops.PutRegion(t.Context(), &catalogv1.PutRegionRequest{Code: "NORDICS"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := f.db.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = before.Rollback(context.WithoutCancel(t.Context())) }()
			_, err = before.Exec(t.Context(), `SELECT pg_advisory_xact_lock(4713001)`)
			require.NoError(t, err)
			changed := make(chan error, 1)
			go func() { changed <- change() }()
			committed := f.clockWhileAChangeWaits(before)
			require.NoError(t, before.Commit(t.Context()))
			require.NoError(t, <-changed)

			entries := f.changedSince(committed)
			require.Len(t, entries, 1)
			require.True(t, entries[0].GetProduct().GetUpdatedAt().AsTime().After(committed))
		})
	}
}

// clockWhileAChangeWaits returns the database's clock at a moment when a change waits for tx.
func (f *fixture) clockWhileAChangeWaits(tx pgx.Tx) (clock time.Time) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		var waiting bool
		err := tx.QueryRow(f.t.Context(), `SELECT clock_timestamp(), EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&clock, &waiting)
		return err == nil && waiting
	}, 5*time.Second, 5*time.Millisecond, "the change must wait for the previous one")
	return clock
}
