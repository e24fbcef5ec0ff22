package server_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

func TestARotatedKeyCanLeaveTheRing(t *testing.T) {
	b := setup(t)
	open, cancelled := b.newLink(t), b.newLink(t)
	_, err := b.client.CancelPersonalLink(b.post("c"), cancelOf(cancelled))
	require.NoError(t, err)
	nothing := func(store.Resealed) {}
	const newKey = "k2:YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI="
	oldKey := "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32)))
	both, err := seal.ParseRing(newKey + "," + oldKey)
	require.NoError(t, err)
	alone, err := seal.ParseRing(newKey)
	require.NoError(t, err)

	_, err = store.New(b.pool, alone).Reseal(t.Context(), nothing)
	require.ErrorIs(t, err, store.ErrBroken, "without the old key nothing opens")
	for _, sealed := range []int{2, 0} {
		r, err := store.New(b.pool, both).Reseal(t.Context(), nothing)
		require.NoError(t, err)
		require.Equal(t, store.Resealed{Seen: 2, Sealed: sealed}, r)
	}
	for _, l := range []string{open.GetId(), cancelled.GetId()} {
		link, err := store.New(b.pool, alone).Get(t.Context(), b.tenant, l)
		require.NoError(t, err)
		require.Equal(t, "Marked Ann", link.Details.Label)
		require.Equal(t, l == cancelled.GetId(), link.Reason != nil)
		require.Contains(t, link.Record.GetClaimUrl(), "https://gifts.example.com/c/")
	}
}
