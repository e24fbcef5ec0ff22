package rules_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func TestAClaimIDShowsItsRequestAndLink(t *testing.T) {
	t.Parallel()
	link, request := uuid.NewString(), []byte("a request")
	seen := map[string]bool{}
	for range 100 {
		id := rules.NewClaimID(request, link)
		require.False(t, seen[id], "every claim has its own id")
		seen[id] = true
		parsed, err := uuid.Parse(id)
		require.NoError(t, err)
		require.Equal(t, uuid.Version(7), parsed.Version())
		require.Equal(t, uuid.RFC4122, parsed.Variant())
		require.True(t, rules.MadeClaim(request, link, id))
		require.False(t, rules.MadeClaim([]byte("another request"), link, id))
		require.False(t, rules.MadeClaim(request, uuid.NewString(), id))
	}
	require.False(t, rules.MadeClaim(request, link, uuid.Must(uuid.NewV7()).String()), "of a player")
	require.False(t, rules.MadeClaim(request, link, ""))
}
