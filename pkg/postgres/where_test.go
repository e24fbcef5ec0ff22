package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
)

func TestWhereNumbersItsArguments(t *testing.T) {
	t.Parallel()
	brand, size := "b", 7
	var w postgres.Where
	require.Equal(t, "true", w.SQL())
	require.Empty(t, w.Args())

	w.And("tenant_id = ?", "t")
	w.And("cancelled_at IS NULL")
	w.Equal("brand_id", &brand)
	w.Equal("campaign_id", nil)
	postgres.Equal(&w, "size", &size)
	w.And("(created_at, id) < (?, ?)", 1, 2)
	limit := w.Arg(100)
	require.Equal(t, "tenant_id = $1 AND cancelled_at IS NULL AND brand_id = $2 AND size = $3 AND (created_at, id) < ($4, $5)", w.SQL())
	require.Equal(t, "$6", limit)
	require.Equal(t, []any{"t", "b", 7, 1, 2, 100}, w.Args())
}

func TestWhereRefusesAConditionWithAnotherNumberOfValues(t *testing.T) {
	t.Parallel()
	var w postgres.Where
	require.Panics(t, func() { w.And("a = ?") })
	require.Panics(t, func() { w.And("a = ?", 1, 2) })
}

func TestNullableAndValueAreInverse(t *testing.T) {
	t.Parallel()
	require.Nil(t, postgres.Nullable(""))
	require.Equal(t, "x", *postgres.Nullable("x"))
	require.Zero(t, postgres.Value[int](nil))
	require.Equal(t, 7, postgres.Value(postgres.Nullable(7)))
}
