package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// A correction expects version 3 of the order. It makes version 4, unless it was sent before.
func TestADraftIsKeptOnlyIfItSaysWhereTheOrderIsSent(t *testing.T) {
	t.Parallel()
	req := &linksv1.CorrectClaimedGiftRequest{ExpectedVersion: 3, Recipient: &linksv1.ClaimRecipient{Street: "Nygatan 2"}}
	for name, tc := range map[string]struct {
		draft, order int64
		kept         bool
	}{
		"the correction is made":                           {3, 4, true},
		"it is made, but the draft is older":               {2, 4, false},
		"it was made before":                               {4, 4, true},
		"it was made before, and another one followed":     {4, 5, false},
		"it was made before, but its draft was not stored": {3, 5, false},
		"it changes nothing":                               {3, 3, true},
	} {
		draft := &linksv1.ClaimDraft{OrderVersion: tc.draft, Recipient: &linksv1.ClaimRecipient{Name: "Ann", Street: "Storgatan 1"}}
		var want *linksv1.ClaimDraft
		if tc.kept {
			want = &linksv1.ClaimDraft{OrderVersion: tc.order, Recipient: &linksv1.ClaimRecipient{Name: "Ann", Street: "Nygatan 2"}}
		}
		require.True(t, proto.Equal(want, rules.CorrectedDraft(draft, req, tc.order)), name)
	}
	require.Nil(t, rules.CorrectedDraft(nil, req, 4))
}
