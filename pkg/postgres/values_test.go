package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
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

func TestUUIDsArriveUnchanged(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, ids := range []postgres.UUIDs{{}, {uuid.NewString()}, {uuid.NewString(), uuid.NewString(), uuid.NewString()}} {
		var got []string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT $1::uuid[]::text[]", ids).Scan(&got))
		require.Equal(t, []string(ids), got)
	}
	var null bool
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT $1::uuid[] IS NULL", postgres.UUIDs(nil)).Scan(&null))
	require.True(t, null)
}

func TestUUIDsAreSentInBinary(t *testing.T) {
	t.Parallel()
	ids := postgres.UUIDs{uuid.NewString(), uuid.NewString()}
	raw, err := pgtype.NewMap().Encode(pgtype.UUIDArrayOID, pgtype.BinaryFormatCode, ids, nil)
	require.NoError(t, err)
	// The header of an array of one dimension has five numbers of 4 bytes. Each UUID follows its length.
	const headerSize, elementSize = 5 * 4, 4 + 16
	require.Len(t, raw, headerSize+len(ids)*elementSize)
}

func TestAnInvalidUUIDFailsTheStatement(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, invalid := range []string{"", "no uuid", "0190aaaa-0000-7000-8000-00000000000g"} {
		_, err := pool.Exec(t.Context(), "SELECT $1::uuid[]", postgres.UUIDs{invalid})
		require.Error(t, err, invalid)
	}
}
