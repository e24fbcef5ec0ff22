package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
)

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
