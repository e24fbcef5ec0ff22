package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// testNullsInOrders places each order twice: once without its optional members, and once with null in all of them.
func (f *fixture) testNullsInOrders(t *testing.T) {
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, -1, gift)
	everywhere := []string{
		"externalRecipientId", "externalCampaignRef", "externalActionRef", "managerEmail", "courierComment", "additionalDetails", "urgent",
		"afterHoursServiceAccepted", "brandedPackagingRequested", "customization", "customFields", "client.email", "recipient.email",
		"recipient.address.postalCode",
	}
	requirement(t, "PLA-65", func(t *testing.T) {
		for _, order := range []struct {
			of    []change
			nulls []string
		}{
			{nil, []string{"campaignId", "items.0.variations", "items.0.customProductName", "items.0.budget"}},
			{[]change{custom("1.00", "SEK")}, []string{"campaignId", "items.0.productId", "items.0.variations"}},
			{
				[]change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())},
				[]string{"brandId", "items.0.customProductName", "items.0.budget"},
			},
		} {
			toIreland := with("recipient.address.country", "IE") // There a postal code is optional.
			bare, null := append(order.of, toIreland), append(order.of, toIreland)
			for _, path := range append(everywhere, order.nulls...) {
				bare, null = append(bare, without(path)), append(null, with(path, nil))
			}
			left, sent := f.place(t, bare...), f.place(t, null...)
			ofLeft, ofSent := f.readAsOperator(t, left), f.readAsOperator(t, sent)
			require.True(t, proto.Equal(ofLeft.GetDetails(), ofSent.GetDetails()), "%v", ofSent.GetDetails())
			require.True(t, proto.Equal(ofLeft.GetFulfilment(), ofSent.GetFulfilment()), "%v", ofSent.GetFulfilment())
			requireAlike(t, left, sent, "id", "reference", "externalOrderId", "createdAt", "updatedAt")
		}
	})
}

// testNullsInBatches does the same with recipients.
func (f *fixture) testNullsInBatches(t *testing.T) {
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	requirement(t, "BAT-46", func(t *testing.T) {
		for _, batch := range []struct {
			of    []change
			nulls []string
		}{
			{nil, []string{"campaignId"}},
			{[]change{fromCampaign(campaign.GetId())}, []string{"brandId", "productIds"}},
		} {
			bare, null := batch.of, batch.of
			for _, path := range batch.nulls {
				null = append(null, with(path, nil))
			}
			for _, member := range []string{"externalRecipientId", "email", "message", "locale", "customFields", "managerEmail"} {
				null = append(null, recipient(member, nil))
			}
			left, sent := f.link(t, bare...), f.link(t, null...)
			ofLeft, ofSent := f.readLinkAsTeam(t, left), f.readLinkAsTeam(t, sent)
			ofLeft.Link, ofSent.Link, ofLeft.BatchId, ofSent.BatchId = nil, nil, nil, nil
			require.Equal(t, "en-US", ofSent.GetLocale())
			require.True(t, proto.Equal(ofLeft, ofSent), "%v", ofSent)
			requireAlike(t, left, sent, "id", "claimUrl", "createdAt", "updatedAt")
		}
	})
}

// requireAlike demands that two records differ in these members only.
func requireAlike(t *testing.T, one, other record, own ...string) {
	t.Helper()
	for _, name := range own {
		delete(one, name)
		delete(other, name)
	}
	require.Equal(t, one, other)
}
