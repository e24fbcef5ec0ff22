package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// BenchmarkABatchOfAThousand measures the making of a thousand links in one call.
func BenchmarkABatchOfAThousand(b *testing.B) {
	f := setup(b)
	recipients := make([]*linksv1.PersonalLinkRecipient, 1000)
	for i := range recipients {
		recipients[i] = &linksv1.PersonalLinkRecipient{
			Label: fmt.Sprintf("Player %d", i), ExternalRecipientId: new(fmt.Sprintf("player-%d", i)),
			Email: new(fmt.Sprintf("p%d@example.com", i)), Message: new("Thank you for ten years with us!"),
		}
	}
	req := f.toCampaign(recipients...)
	for b.Loop() {
		_, err := f.client.CreatePersonalLinks(f.post(newID()), req)
		require.NoError(b, err)
	}
}
