package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const undated = `SELECT count(*) FROM outbox
WHERE occurred_at IS DISTINCT FROM (convert_from(data, 'UTF8')::jsonb->>'updatedAt')::timestamptz`

func TestEveryEventIsDatedByTheChangeItShows(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, links := f.waiting(t, 2)
	for _, link := range links {
		_, err := f.approve(t, account(anAdministrator), link)
		require.NoError(t, err)
	}
	_, err := f.site.ClaimLink(t.Context(), claimOf(links[0]))
	require.NoError(t, err)
	_, err = f.client.CancelPersonalLink(f.post("k"), cancelOf(links[1]))
	require.NoError(t, err)

	require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.claimed"}, f.kinds(t, links[0].GetId()))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.cancelled"}, f.kinds(t, links[1].GetId()))
	var n int
	require.NoError(t, f.pool.QueryRow(t.Context(), undated).Scan(&n))
	require.Zero(t, n)
}
