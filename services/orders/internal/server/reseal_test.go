package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/resealing"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func ringOf(t *testing.T, ids ...string) *seal.Ring {
	t.Helper()
	var keys []string
	for _, id := range ids {
		keys = append(keys, id+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32))))
	}
	ring, err := seal.ParseRing(strings.Join(keys, ","))
	require.NoError(t, err)
	return ring
}

// sealedUnder counts orders by the id of the key their details are sealed under.
func sealedUnder(t *testing.T, d *desk, id string) (n int) {
	t.Helper()
	require.NoError(t, d.pool.QueryRow(t.Context(),
		"SELECT count(*) FROM orders WHERE substring(details_sealed FROM 2 FOR $1) = $2", len(id), []byte(id)).Scan(&n))
	return n
}

func TestARotatedKeyCanLeaveTheRing(t *testing.T) {
	d := openDesk(t)
	const orders = 25
	var ids []string
	for range orders {
		ids = append(ids, d.in(t, requestedStatus).GetId())
	}
	before := d.file(t, operator(), ids[0]).GetDetails()
	require.Equal(t, orders, sealedUnder(t, d, "k1"))

	rotated := store.New(d.pool, ringOf(t, "n2", "k1"))
	_, err := rotated.Reseal(t.Context(), store.FirstPlace, 10)
	require.NoError(t, err)
	require.Equal(t, 10, sealedUnder(t, d, "n2"), "ended half way")
	var out bytes.Buffer
	require.NoError(t, resealing.Run(t.Context(), rotated, 10, &out))
	require.Equal(t, orders, sealedUnder(t, d, "n2"))
	require.Contains(t, out.String(), fmt.Sprintf("looked at %d", orders))
	require.Contains(t, out.String(), "sealed 15 again", "what was done stays done")
	require.NotContains(t, out.String(), "Marked")

	d.Store = store.New(d.pool, ringOf(t, "n2"))
	require.True(t, proto.Equal(before, d.file(t, operator(), ids[0]).GetDetails()))
	require.EqualValues(t, 0, d.read(t, ids[0]).GetVersion())
}

func TestResealingUndoesNoCorrection(t *testing.T) {
	d := openDesk(t)
	d.tenants.settings.Tenant.ApprovalRequired = false
	var ids []string
	for range 10 {
		external := newID()
		resp, err := d.PlaceOrder(as(t, external), request(external))
		require.NoError(t, err)
		ids = append(ids, resp.GetOrder().GetId())
	}
	d.Store = store.New(d.pool, ringOf(t, "n2", "k1"))
	writing, done := context.WithCancel(t.Context())
	last := make([]string, len(ids))
	var writers errgroup.Group
	for i, id := range ids {
		writers.Go(func() error {
			for n := 0; writing.Err() == nil; n++ {
				comment := fmt.Sprint("comment ", n)
				_, err := d.CorrectDelivery(t.Context(), &ordersv1.CorrectDeliveryRequest{
					Actor: operator(), TenantId: tenantID, OrderId: id,
					ExpectedVersion: proto.Int64(int64(n)), CourierComment: &comment,
				})
				if err != nil {
					return err
				}
				last[i] = comment
			}
			return nil
		})
	}
	// Back and forth, so that every walk finds all orders to be done while they are written.
	for n := range 10 {
		ring := []string{"n2", "k1"}
		if n%2 == 0 {
			ring = []string{"k1", "n2"}
		}
		r := store.New(d.pool, ringOf(t, ring...))
		for at, seen := store.FirstPlace, 3; seen == 3; {
			step, err := r.Reseal(t.Context(), at, 3)
			require.NoError(t, err)
			require.Empty(t, step.Broken)
			at, seen = step.Last, step.Seen
		}
	}
	done()
	require.NoError(t, writers.Wait())
	for i, id := range ids {
		require.Equal(t, last[i], d.file(t, operator(), id).GetDetails().GetCourierComment())
	}
	require.NoError(t, resealing.Run(t.Context(), d.Store, 3, &bytes.Buffer{}))
	require.Zero(t, sealedUnder(t, d, "k1"))
}

func TestACorrectionMadeBetweenReadingAndSealingStays(t *testing.T) {
	d := openDesk(t)
	id := d.in(t, requestedStatus).GetId()
	rotated := ringOf(t, "n2", "k1")
	corrected := rotated.Seal([]byte(`{"courierComment": "corrected meanwhile"}`), "orders.details_sealed/"+id)
	tx, err := d.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "UPDATE orders SET details_sealed = $1 WHERE id = $2", corrected, id)
	require.NoError(t, err)

	var step store.Resealed
	var resealed errgroup.Group
	resealed.Go(func() (err error) {
		step, err = store.New(d.pool, rotated).Reseal(t.Context(), store.FirstPlace, 10)
		return err
	})
	require.Eventually(t, func() bool {
		return count(t, d.pool, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	}, 10*time.Second, time.Millisecond, "it has read, and waits to write")
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, resealed.Wait())
	require.Zero(t, step.Sealed)
	require.Equal(t, 1, step.Missed)
	d.Store = store.New(d.pool, rotated)
	require.Equal(t, "corrected meanwhile", d.file(t, operator(), id).GetDetails().GetCourierComment())
}

func TestWhatNoKeyOpensIsNamedAndLeft(t *testing.T) {
	d := openDesk(t)
	good, broken := d.in(t, requestedStatus), d.in(t, requestedStatus)
	_, err := d.pool.Exec(t.Context(), `UPDATE orders SET details_sealed = '\x026c7878'::bytea WHERE id = $1`, broken.GetId())
	require.NoError(t, err)
	var out bytes.Buffer
	err = resealing.Run(t.Context(), store.New(d.pool, ringOf(t, "n2", "k1")), 10, &out)
	require.ErrorIs(t, err, resealing.ErrBroken)
	require.Contains(t, out.String(), broken.GetId())
	require.NotContains(t, out.String(), good.GetId())
	require.Equal(t, 1, sealedUnder(t, d, "n2"))
	_, err = d.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: broken.GetId()})
	require.Error(t, err)
	_, isProblem := problem.As(err)
	require.False(t, isProblem, "a fault of ours")
}
