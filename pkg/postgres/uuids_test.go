package postgres_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestUUIDsArriveAsTheyAre(t *testing.T) {
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

func TestUUIDsTravelInBinary(t *testing.T) {
	t.Parallel()
	ids := postgres.UUIDs{uuid.NewString(), uuid.NewString()}
	raw, err := pgtype.NewMap().Encode(pgtype.UUIDArrayOID, pgtype.BinaryFormatCode, ids, nil)
	require.NoError(t, err)
	const head, each = 20, 4 + 16
	require.Len(t, raw, head+len(ids)*each)
}

func TestWhatIsNoUUIDFailsTheStatement(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, none := range []string{"", "no uuid", "0190aaaa-0000-7000-8000-00000000000g"} {
		_, err := pool.Exec(t.Context(), "SELECT $1::uuid[]", postgres.UUIDs{none})
		require.Error(t, err, none)
	}
}
