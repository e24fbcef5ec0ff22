package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	placed postgres.Use = 1 << iota
	changed
	read
)

var columns = postgres.Columns[ordersv1.Order]{
	postgres.Field("id", placed|read, func(o *ordersv1.Order) *string { return &o.Id }),
	postgres.EnumField("status", placed|changed|read, func(o *ordersv1.Order) *ordersv1.OrderStatus { return &o.Status }),
	postgres.Field("version", placed|changed|read, func(o *ordersv1.Order) *int64 { return &o.Version }).Cast("::bigint + 1", " - 1"),
	postgres.TimeField("created_at", placed|read, func(o *ordersv1.Order) **timestamppb.Timestamp { return &o.CreatedAt }),
	postgres.TimeField("updated_at", changed|read, func(o *ordersv1.Order) **timestamppb.Timestamp { return &o.UpdatedAt }),
}

func scanOrder(row pgx.CollectableRow) (*ordersv1.Order, error) {
	o := &ordersv1.Order{}
	return o, row.Scan(columns.For(read).Targets(o)...)
}

func TestRowsAreWrittenChangedAndReadByTheirColumns(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	_, err := pool.Exec(ctx,
		"CREATE TABLE rows (id uuid, status text, version bigint, created_at timestamptz, updated_at timestamptz)")
	require.NoError(t, err)
	written := &ordersv1.Order{Id: uuid.NewString(), Version: 1, CreatedAt: &timestamppb.Timestamp{Seconds: 1}}
	_, err = postgres.Exec(ctx, pool, "insert", columns.For(placed).Insert("rows"), columns.For(placed).Args(written)...)
	require.NoError(t, err)
	other := &ordersv1.Order{Id: uuid.NewString(), Version: 9, CreatedAt: &timestamppb.Timestamp{Seconds: 9}}
	_, err = postgres.Exec(ctx, pool, "insert", columns.For(placed).Insert("rows"), columns.For(placed).Args(other)...)
	require.NoError(t, err)

	errMissing := errors.New("missing")
	selectRows := "SELECT " + columns.For(read).Select() + " FROM rows "
	require.Equal(t, "SELECT id, status, version - 1, created_at, updated_at FROM rows ", selectRows)
	got, err := postgres.SelectOne(ctx, pool, "read", errMissing, scanOrder, selectRows+"WHERE id = $1", written.GetId())
	require.NoError(t, err)
	require.True(t, proto.Equal(written, got), "%v", got)

	written.Status, written.Version = ordersv1.OrderStatus_ORDER_STATUS_SENT, 2
	written.UpdatedAt = &timestamppb.Timestamp{Seconds: 2}
	update := "UPDATE rows SET " + columns.For(changed).Set(2) + " WHERE id = $1"
	count, err := postgres.Exec(ctx, pool, "update", update, columns.For(changed).Args(written, written.GetId())...)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	all, err := postgres.Select(ctx, pool, "list", scanOrder, selectRows+"ORDER BY created_at")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.True(t, proto.Equal(written, all[0]), "%v", all[0])
	require.True(t, proto.Equal(other, all[1]), "%v", all[1])

	_, err = postgres.SelectOne(ctx, pool, "read", errMissing, scanOrder, selectRows)
	require.ErrorIs(t, err, pgx.ErrTooManyRows)
	_, err = postgres.SelectOne(ctx, pool, "read", errMissing, scanOrder, selectRows+"WHERE false")
	require.ErrorIs(t, err, errMissing)
	_, err = postgres.Select(ctx, pool, "list", scanOrder, "SELECT 1/0")
	require.ErrorContains(t, err, "list: ")

	first, none := (*ordersv1.Order)(nil), other
	b := &pgx.Batch{}
	postgres.QueueSelectFirst(b, &first, scanOrder, selectRows+"ORDER BY created_at")
	postgres.QueueSelectFirst(b, &none, scanOrder, selectRows+"WHERE false")
	require.NoError(t, pool.SendBatch(ctx, b).Close())
	require.Equal(t, written.GetId(), first.GetId())
	require.Nil(t, none)
}

// setting is a row that is put.
type setting struct{ id, name, note string }

func TestARowIsPutIfItDiffers(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	_, err := pool.Exec(ctx, "CREATE TABLE settings (id text PRIMARY KEY, name text, note text)")
	require.NoError(t, err)
	const key, changed postgres.Use = 1, 2
	columns := postgres.Columns[setting]{
		postgres.Field("id", key, func(s *setting) *string { return &s.id }),
		postgres.Field("name", changed, func(s *setting) *string { return &s.name }),
		postgres.Field("note", changed, func(s *setting) *string { return &s.note }),
	}
	put := columns.Insert("settings AS stored") + " ON CONFLICT (id) DO UPDATE SET " + columns.For(changed).Excluded() +
		" WHERE " + columns.For(changed).Differ("stored")
	for _, step := range []struct {
		row  setting
		rows int
	}{{setting{"a", "A", "-"}, 1}, {setting{"a", "A", "-"}, 0}, {setting{"a", "A", "+"}, 1}, {setting{"b", "A", "+"}, 1}} {
		rows, err := postgres.Exec(ctx, pool, "put", put, columns.Args(&step.row)...)
		require.NoError(t, err)
		require.Equal(t, step.rows, rows)
	}
	var stored string
	require.NoError(t, pool.QueryRow(ctx, "SELECT string_agg(id || name || note, ' ' ORDER BY id) FROM settings").Scan(&stored))
	require.Equal(t, "aA+ bA+", stored)
	require.Equal(t, map[string]any{"name": "N", "note": ""}, columns.For(changed).Values(&setting{name: "N"}))
}

// sample is a row with a column of each type that an array can hold.
type sample struct {
	id     *string
	number int32
	bytes  []byte
	status ordersv1.OrderStatus
	at     *timestamppb.Timestamp
}

func TestManyRowsAreInsertedByOneStatement(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	_, err := pool.Exec(ctx, "CREATE TABLE samples (id uuid, number int, bytes bytea, status text, at timestamptz)")
	require.NoError(t, err)
	columns := postgres.Columns[sample]{
		postgres.Field("id", placed, func(s *sample) **string { return &s.id }).Cast("::uuid", "::text"),
		postgres.Field("number", placed, func(s *sample) *int32 { return &s.number }),
		postgres.Field("bytes", placed, func(s *sample) *[]byte { return &s.bytes }),
		postgres.EnumField("status", placed, func(s *sample) *ordersv1.OrderStatus { return &s.status }),
		postgres.TimeField("at", placed, func(s *sample) **timestamppb.Timestamp { return &s.at }),
	}
	want := []*sample{
		{id: new(uuid.NewString()), number: 1, bytes: []byte("x"), status: 1, at: &timestamppb.Timestamp{Seconds: 1}},
		{number: 2},
	}
	_, err = postgres.Exec(ctx, pool, "insert", columns.InsertAll("samples"), columns.Arrays(want)...)
	require.NoError(t, err)
	got, err := postgres.Select(ctx, pool, "list", func(row pgx.CollectableRow) (*sample, error) {
		s := &sample{}
		return s, row.Scan(columns.Targets(s)...)
	}, "SELECT "+columns.Select()+" FROM samples ORDER BY number")
	require.NoError(t, err)
	require.Equal(t, want, got)
}
