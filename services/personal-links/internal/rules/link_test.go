package rules_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/entropytest"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

func linkIn(status linksv1.PersonalLinkStatus) *rules.Link {
	return &rules.Link{Record: &linksv1.PersonalLink{
		Id: uuid.NewString(), Status: status, CreatedAt: timestamppb.New(noon), UpdatedAt: timestamppb.New(noon.Truncate(time.Microsecond)),
	}}
}

func TestTheStateTable(t *testing.T) {
	for _, c := range []struct {
		from            linksv1.PersonalLinkStatus
		cancelled       bool
		cancelRefusal   problem.Code
		approved        bool
		approvalRefusal problem.Code
		mark            bool
		seen            linksv1.ClaimState
	}{
		{from: rules.Requested, cancelled: true, approved: true, seen: linksv1.ClaimState_CLAIM_STATE_WAITING},
		{from: rules.Active, cancelled: true, mark: true, seen: linksv1.ClaimState_CLAIM_STATE_OPEN},
		{from: rules.Claimed, cancelRefusal: problem.NotCancellable, seen: linksv1.ClaimState_CLAIM_STATE_CLAIMED},
		{from: rules.Expired, cancelRefusal: problem.NotCancellable, approvalRefusal: problem.NotEditable, seen: linksv1.ClaimState_CLAIM_STATE_EXPIRED},
		{from: rules.Cancelled, approvalRefusal: problem.NotEditable, seen: linksv1.ClaimState_CLAIM_STATE_EXPIRED},
	} {
		t.Run(rules.StatusName(c.from), func(t *testing.T) {
			changed, err := linkIn(c.from).Cancel("why", noon)
			requireRefusal(t, c.cancelRefusal, c.from, err)
			require.Equal(t, c.cancelled, changed)
			changed, err = linkIn(c.from).Approve(noon)
			requireRefusal(t, c.approvalRefusal, c.from, err)
			require.Equal(t, c.approved, changed)
			require.Equal(t, c.mark, linkIn(c.from).Mark(uuid.NewString()))
			require.Equal(t, c.seen, rules.ClaimState(c.from))
			require.Equal(t, c.from, rules.ParseStatus(rules.StatusName(c.from)))
		})
	}
}

func requireRefusal(t *testing.T, want problem.Code, from linksv1.PersonalLinkStatus, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, want, p.Code)
	require.Equal(t, rules.StatusName(from), p.CurrentStatus)
}

func TestAMarkedLinkChangesByItsOwnClaimOnly(t *testing.T) {
	l, mine, other := linkIn(rules.Active), uuid.NewString(), uuid.NewString()
	require.True(t, l.Mark(mine))
	require.False(t, l.Mark(other), "another claim came first")
	_, err := l.Cancel("why", noon)
	require.ErrorIs(t, err, rules.ErrMarked)
	require.False(t, l.Claim(other, noon))
	require.False(t, l.Unmark(other))
	require.True(t, l.Claim(mine, noon))
	require.False(t, l.Claim(mine, noon), "once")
	require.False(t, l.Unmark(mine))
	require.Equal(t, mine, l.Record.GetOrderId())
	require.Nil(t, l.ClaimOrderID)
}

func TestAnUnmarkedLinkIsAsBefore(t *testing.T) {
	l, orderID := linkIn(rules.Active), uuid.NewString()
	before := l.Record.String()
	require.True(t, l.Mark(orderID))
	require.True(t, l.Unmark(orderID))
	require.False(t, l.Claim(orderID, noon))
	require.Equal(t, before, l.Record.String())
}

func TestAChangeIsLaterThanTheOneBeforeWhateverTheClockDoes(t *testing.T) {
	for _, clock := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(time.Hour)} {
		l := linkIn(rules.Requested)
		before := l.Record.GetUpdatedAt().AsTime()
		_, err := l.Approve(clock)
		require.NoError(t, err)
		approved := l.Record.GetUpdatedAt().AsTime()
		require.True(t, approved.After(before))
		require.Equal(t, approved, l.Record.GetApprovedAt().AsTime())
		_, err = l.Cancel("why", clock)
		require.NoError(t, err)
		require.True(t, l.Record.GetUpdatedAt().AsTime().After(approved))
		require.Zero(t, l.Record.GetUpdatedAt().AsTime().Nanosecond()%1000, "whole microseconds")
	}
}

func TestTokens(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := rules.NewToken()
		require.Regexp(t, `^[A-Za-z0-9_-]{24}$`, token, "144 bits")
		require.False(t, seen[token])
		seen[token] = true
		hash, ok := rules.HashToken(token)
		require.True(t, ok)
		require.Len(t, hash, 32)
		require.NotContains(t, string(hash), token)
	}
	require.Equal(t, "https://x.example/c/tok", rules.ClaimURL("https://x.example/c/", "tok"))
}

func TestATokenHasAtLeast128RandomBits(t *testing.T) {
	var tokens []string
	for range 1000 {
		tokens = append(tokens, rules.NewToken())
	}
	require.NotEqual(t, tokens[0], tokens[1])
	require.GreaterOrEqual(t, entropytest.Bits(tokens), 128.0)
}
