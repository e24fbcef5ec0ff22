package seal_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
)

func key(fill string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32)))
}

func TestASealedValueOpensOnlyWithItsAssociatedData(t *testing.T) {
	t.Parallel()
	ring, err := seal.ParseRing("k1:" + key("a"))
	require.NoError(t, err)
	sealed := ring.Seal([]byte("Storgatan 1"), "order-1")
	require.NotContains(t, string(sealed), "Storgatan")

	plain, err := ring.Open(sealed, "order-1")
	require.NoError(t, err)
	require.Equal(t, "Storgatan 1", string(plain))

	_, err = ring.Open(sealed, "order-2")
	require.ErrorIs(t, err, seal.ErrBroken)
	for i := range sealed {
		changed := append([]byte(nil), sealed...)
		changed[i] ^= 1
		_, err := ring.Open(changed, "order-1")
		require.Error(t, err, "byte %d", i)
	}
}

func TestOlderKeysOpenAndAreStale(t *testing.T) {
	t.Parallel()
	old, err := seal.ParseRing("k1:" + key("a"))
	require.NoError(t, err)
	sealed := old.Seal([]byte("x"), "p")
	rotated, err := seal.ParseRing("k2:" + key("b") + ", k1:" + key("a"))
	require.NoError(t, err)
	require.True(t, rotated.Stale(sealed))
	fresh := rotated.Seal([]byte("x"), "p")
	require.False(t, rotated.Stale(fresh))
	require.True(t, bytes.HasPrefix(fresh, rotated.Prefix()))
	require.False(t, bytes.HasPrefix(sealed, rotated.Prefix()))
	plain, err := rotated.Open(sealed, "p")
	require.NoError(t, err)
	require.Equal(t, "x", string(plain))

	without, err := seal.ParseRing("k2:" + key("b"))
	require.NoError(t, err)
	_, err = without.Open(sealed, "p")
	require.ErrorIs(t, err, seal.ErrNoKey)
}

func TestABadRingIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "k1", "k1:short", ":" + key("a"), "k1:" + key("a") + ",k1:" + key("b")} {
		_, err := seal.ParseRing(text)
		require.ErrorIs(t, err, seal.ErrRing, text)
	}
}

func TestAMACIsThatOfItsValueAndKey(t *testing.T) {
	t.Parallel()
	old, err := seal.ParseRing("k1:" + key("a"))
	require.NoError(t, err)
	mac := old.MAC("player-1")
	require.Equal(t, mac, old.MAC("player-1"), "so that a value can be searched for")
	require.NotContains(t, string(mac), "player-1")
	require.True(t, old.MatchesMAC(mac, "player-1"))
	require.False(t, old.MatchesMAC(mac, "player-2"))
	require.False(t, old.MatchesMAC(nil, "player-1"))

	rotated, err := seal.ParseRing("k2:" + key("b") + ",k1:" + key("a"))
	require.NoError(t, err)
	require.True(t, rotated.MatchesMAC(mac, "player-1"))
	require.NotEqual(t, mac, rotated.MAC("player-1"))
	without, err := seal.ParseRing("k2:" + key("b"))
	require.NoError(t, err)
	require.False(t, without.MatchesMAC(mac, "player-1"))
	require.False(t, without.HasKeyOf(mac))
	require.True(t, rotated.HasKeyOf(mac))
	require.False(t, rotated.HasKeyOf(nil))
	sameID, err := seal.ParseRing("k1:" + key("c"))
	require.NoError(t, err)
	require.False(t, sameID.MatchesMAC(mac, "player-1"))
}
