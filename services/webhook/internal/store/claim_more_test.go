package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAClaimSaysWhetherRowsMayBeLeftForWantOfRoom(t *testing.T) {
	s := setup(t)
	more := func(limit, perEndpoint int) bool {
		t.Helper()
		claimed, err := s.at(now()).Claim(t.Context(), request(limit, perEndpoint))
		require.NoError(t, err)
		return claimed.More
	}
	require.False(t, more(10, 2), "nothing is due")
	add(t, s, tenantA, now(), 1)
	require.False(t, more(10, 2), "all that is due was taken, and there is room for another row")
	add(t, s, tenantA, now(), 1)
	require.True(t, more(10, 2), "the endpoint has no room left")
	require.False(t, more(10, 2), "the endpoint has no room, but nothing is due either")
	add(t, s, tenantA, now(), 1)
	require.True(t, more(10, 2), "a row is due for which there is no room")
	add(t, s, tenantA, now(), 2, 3)
	require.True(t, more(1, 2), "the limit was reached")
}
