package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
)

func TestEventsOfOrdersAreThoseOfTheirTenant(t *testing.T) {
	t.Parallel()
	s := setup(t)
	in := changes(tenantA, 0, 2)
	appendAt(t, s, today, batch(0, in))
	appendAt(t, s, today, batch(1, changes(tenantB, 0, 1)))
	page, err := s.OrderEvents(t.Context(), OrderEventsFrom{TenantID: tenantA, Day: Day(today), Limit: 10})
	require.NoError(t, err)
	require.Equal(t, postgres.Column(in, func(c Change) string { return c.GetSubjectId() }),
		postgres.Column(page.Events, func(e OrderEvent) string { return e.OrderID }))
}
