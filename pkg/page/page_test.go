package page_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	var errs fields.Errors
	require.Equal(t, 50, page.Limit(nil, &errs))
	for _, limit := range []int32{1, 100} {
		require.EqualValues(t, limit, page.Limit(&limit, &errs))
	}
	require.NoError(t, errs.Err())
	for _, limit := range []int32{0, -1, 101} {
		var errs fields.Errors
		page.Limit(&limit, &errs)
		require.Equal(t, "limit", errs.List()[0].Field)
	}
}

func TestUpdatedSinceIsRoundedUpToMicroseconds(t *testing.T) {
	t.Parallel()
	var errs fields.Errors
	require.Nil(t, page.Since(nil, &errs))
	for nanos, want := range map[int32]int32{0: 0, 1: 1000, 1000: 1000, 999_999_999: 1_000_000_000} {
		require.Equal(t, time.Unix(1, int64(want)).UTC(), page.Since(&timestamppb.Timestamp{Seconds: 1, Nanos: nanos}, &errs).AsTime())
	}
	require.NoError(t, errs.Err())
	page.Since(&timestamppb.Timestamp{Nanos: -1}, &errs)
	require.Equal(t, "updatedSince", errs.List()[0].Field)
}

func TestCursors(t *testing.T) {
	t.Parallel()
	own := page.Bind("orders", "a")
	at := page.Position{Time: time.UnixMicro(1).UTC(), ID: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"}
	text, nonsense := own.EncodePosition(at), "nonsense"
	invalid := func() *fields.Errors {
		var errs fields.Errors
		errs.Add("brandId", "invalid", "must be a UUID")
		return &errs
	}
	t.Run("one of this list is read", func(t *testing.T) {
		var errs fields.Errors
		require.Equal(t, &at, page.After(&text, own, &errs))
		require.Nil(t, page.After(nil, own, &errs))
		require.NoError(t, errs.Err())
	})
	t.Run("one of another list is a violation", func(t *testing.T) {
		var errs fields.Errors
		require.Nil(t, page.After(&text, page.Bind("orders", "b"), &errs))
		require.Equal(t, "after", errs.List()[0].Field)
	})
	t.Run("it is not checked beside an invalid filter", func(t *testing.T) {
		errs := invalid()
		require.Nil(t, page.After(&text, page.Bind("orders", "b"), errs))
		require.Len(t, errs.List(), 1)
	})
	t.Run("nonsense is always a violation", func(t *testing.T) {
		errs := invalid()
		require.Nil(t, page.After(&nonsense, own, errs))
		require.Len(t, errs.List(), 2)
	})
}

func TestAPageIsCutToItsLimitAndNamesTheNext(t *testing.T) {
	t.Parallel()
	binding := page.Bind("list")
	position := func(last int) page.Position {
		return page.Position{Time: time.Unix(int64(last), 0).UTC(), ID: "0196a000-0000-7000-8000-000000000001"}
	}
	items, next := page.Cut([]int{1, 2, 3}, 3, binding, position)
	require.Equal(t, []int{1, 2, 3}, items)
	require.Nil(t, next)
	items, next = page.Cut([]int{1, 2, 3, 4}, 3, binding, position)
	require.Equal(t, []int{1, 2, 3}, items)
	after, err := binding.DecodePosition(*next)
	require.NoError(t, err)
	require.Equal(t, position(3), after)
}
