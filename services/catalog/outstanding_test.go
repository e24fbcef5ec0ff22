package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

func TestWhatIsHeldForOrdersAboutToCommitIsTold(t *testing.T) {
	s, c, p := shop(t, 10)
	held := func() store.Outstanding {
		o, err := store.New(s.db).Outstanding(t.Context())
		require.NoError(t, err)
		return o
	}
	require.Zero(t, held())

	first, second := s.attempt(c, p, "S"), s.attempt(c, p, "M")
	for _, attempt := range []*catalogv1.ReserveRequest{first, second} {
		_, err := s.ordering.Reserve(t.Context(), attempt)
		require.NoError(t, err)
	}
	require.Equal(t, store.Outstanding{Units: 2}, held())

	_, err := s.db.Exec(t.Context(), "UPDATE reservations SET expires_at = clock_timestamp() - interval '1 hour' WHERE order_id = $1", first.GetOrderId())
	require.NoError(t, err)
	require.InDelta(t, time.Hour, held().Overdue, float64(time.Minute))

	s.settle([]string{first.GetOrderId()}, []string{second.GetOrderId()})
	require.Zero(t, held())
}
