package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const undated = `SELECT count(*) FROM outbox
WHERE occurred_at IS DISTINCT FROM (convert_from(data, 'UTF8')::jsonb->>'updatedAt')::timestamptz`

func TestEveryEventIsDatedByTheChangeItShows(t *testing.T) {
	b := setup(t)
	_, links := b.waiting(t, 2)
	for _, link := range links {
		_, err := b.approve(t, account(anAdministrator), link)
		require.NoError(t, err)
	}
	_, err := b.site.ClaimLink(t.Context(), claimOf(links[0]))
	require.NoError(t, err)
	_, err = b.client.CancelPersonalLink(b.post("k"), cancelOf(links[1]))
	require.NoError(t, err)

	require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.claimed"}, b.kinds(t, links[0].GetId()))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.cancelled"}, b.kinds(t, links[1].GetId()))
	var n int
	require.NoError(t, b.pool.QueryRow(t.Context(), undated).Scan(&n))
	require.Zero(t, n)
}
