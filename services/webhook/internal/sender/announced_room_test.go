package sender

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoMoreIsAnnouncedThanAClaimCanTake(t *testing.T) {
	var a announced
	a.add([]int32{1, 2}, 3)
	a.add([]int32{3, 4}, 3)
	a.add([]int32{5}, 3)
	require.Equal(t, []int32{1, 2, 3}, a.take())
	require.Empty(t, a.take())
}
