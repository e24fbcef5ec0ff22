package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestTimesAndEnumsAreReadIntoMessages(t *testing.T) {
	t.Parallel()
	at, unset := timestamppb.New(time.Now()), timestamppb.New(time.Now())
	var status, none ordersv1.OrderStatus
	pool := pgtest.New(t)
	err := pool.QueryRow(t.Context(), "SELECT '2026-11-20 12:00:00Z'::timestamptz, NULL::timestamptz, 'SENT', NULL::text").
		Scan(postgres.ScanTime(&at), postgres.ScanTime(&unset), postgres.ScanEnum(&status), postgres.ScanEnum(&none))
	require.NoError(t, err)
	require.Equal(t, "2026-11-20T12:00:00Z", at.AsTime().Format(time.RFC3339))
	require.Nil(t, unset)
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_SENT, status)
	require.Zero(t, none)
	require.Error(t, pool.QueryRow(t.Context(), "SELECT 'infinity'::timestamptz").Scan(postgres.ScanTime(&at)))
}
