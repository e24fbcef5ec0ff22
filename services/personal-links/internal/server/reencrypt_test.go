package server_test

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

func TestReencryptedLinksOpenUnderTheNewKeyAlone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	cancelled := f.newLink(t)
	_, err := f.client.CancelPersonalLink(f.post("c"), cancelOf(cancelled))
	require.NoError(t, err)
	newKey := "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("b", 32)))
	oldKey := "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32)))
	database := postgres.Config{URL: f.pool.Config().ConnString()}
	require.ErrorIs(t, reencrypt.Run(t.Context(), database, newKey, store.SealedColumns(), io.Discard), reencrypt.ErrBroken)
	require.NoError(t, reencrypt.Run(t.Context(), database, newKey+","+oldKey, store.SealedColumns(), io.Discard))

	ring, err := seal.ParseRing(newKey)
	require.NoError(t, err)
	link, err := store.New(f.pool, ring).Get(t.Context(), f.tenant, cancelled.GetId())
	require.NoError(t, err)
	require.Equal(t, cancelled.GetClaimUrl(), link.Record.GetClaimUrl())
	require.Equal(t, "Marked Ann", link.Details.Label)
	require.Equal(t, "Marked reason", *link.Reason)
}
