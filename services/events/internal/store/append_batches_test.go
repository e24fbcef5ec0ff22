package store

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Two instances receive the messages of all partitions at the same time, as after a rebalance that one of them has
// not noticed.
func TestBatchesOfManyPartitionsAtOnceAreEachAppendedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := at(today, New(one.pool))
	const partitions, batches, each = 12, 20, 3
	tenants := make([]string, partitions)
	expected := make([][]Change, partitions)
	var group errgroup.Group
	for p := range partitions {
		tenants[p] = uuid.NewString()
		expected[p] = changes(tenants[p], 0, batches*each)
		for _, s := range []*Store{one, two} {
			group.Go(func() error {
				for n := range batches {
					part := expected[p][n*each : (n+1)*each]
					if _, err := s.Append(t.Context(), batch(p, part)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	require.NoError(t, group.Wait())
	for p := range partitions {
		require.Equal(t, idsOf(expected[p]), ids(feedOf(t, one, tenants[p])))
	}
}

func TestABatchThatTheDatabaseRefusesDoesNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	s := setup(t)
	good, bad := changes(tenantA, 0, 2), changes(tenantB, 0, 2)
	bad[1].Type = "no text: \x00"
	// The first batch waits for its writer's row, and the others for the first: so they are appended together.
	require.NoError(t, s.ensureWriters(t.Context(), []*pendingBatch{{Batch: Batch{Partition: 0}}}))
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	// If the test fails before it rolls back, the pool would wait for this connection when it closes.
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), `SELECT FROM feed_writers FOR UPDATE`)
	require.NoError(t, err)
	results := make([]chan error, 3)
	for i, of := range [][]Change{changes(tenantA, 0, 1), good, bad} {
		results[i] = make(chan error, 1)
		go func() {
			_, err := s.Append(t.Context(), batch(i, of))
			results[i] <- err
		}()
		// Running first: before the first batch arrives, none waits either.
		require.Eventually(t, func() bool { return s.appends.Running() == 1 && s.appends.Waiting() == i }, 5*time.Second, time.Millisecond)
	}
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-results[0])
	require.NoError(t, <-results[1])
	require.Error(t, <-results[2])
	require.Subset(t, ids(feedOf(t, s, tenantA)), idsOf(good))
	require.Empty(t, feedOf(t, s, tenantB))
}

func TestTwoBatchesOfOnePartitionAreAppendedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := setup(t)
	c := changes(tenantA, 0, 4)
	batches := []*pendingBatch{
		{Batch: batch(1, c[:3])},
		{Batch: batch(1, c[1:])},
	}
	require.NoError(t, s.appendAll(t.Context(), batches))
	require.Equal(t, Appended{Inserted: 3}, batches[0].done)
	require.Equal(t, Appended{Inserted: 1}, batches[1].done)
	require.Equal(t, idsOf(c), ids(feedOf(t, s, tenantA)))
}
