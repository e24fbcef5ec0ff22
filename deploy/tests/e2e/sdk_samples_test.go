package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	samples "github.com/partnergifting/platform/gateway/docs/samples/go"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (i integrator) testSamples(t *testing.T) {
	t.Run("of the account and the catalog", i.testReadingSamples)
	t.Run("of orders", i.testOrderSamples)
	t.Run("of links", i.testLinkSamples)
	t.Run("of events and webhooks", i.testEventSamples)
	t.Run("of the sandbox's catalog", i.testSandboxCatalogSamples)
}

func (i integrator) testReadingSamples(t *testing.T) {
	ctx := t.Context()
	require.NoError(t, samples.GetMe(ctx, i.Client))
	require.NoError(t, samples.ListBrands(ctx, i.Client))
	require.NoError(t, samples.ListCampaigns(ctx, i.Client))
	require.NoError(t, samples.GetCampaign(ctx, i.Client, i.Env["GIFTING_CAMPAIGN_ID"]))
	require.NoError(t, samples.ListProducts(ctx, i.Client))
	require.NoError(t, samples.ListCategories(ctx, i.Client))
	require.NoError(t, samples.GetProduct(ctx, i.Client, i.Env["GIFTING_PRODUCT_ID"]))
	product, err := i.Catalog.Product(ctx, i.Env["GIFTING_PRODUCT_ID"], gifting.GetProductQuery{Country: "SE"})
	require.NoError(t, err)
	require.NoError(t, samples.GetImage(ctx, i.Client, product))
}

func (i integrator) testOrderSamples(t *testing.T) {
	ctx := t.Context()
	require.NoError(t, samples.ValidateOrder(ctx, i.Client, gifting.PlaceOrderRequest{}))
	order, err := samples.PlaceOrder(ctx, i.Client, i.order("sample-1"), "sample-1")
	require.NoError(t, err)
	_, err = samples.PlaceOrder(ctx, i.Client, gifting.PlaceOrderRequest{}, "sample-invalid")
	require.True(t, gifting.HasCode(err, gifting.CodeInvalidRequest))
	custom, err := samples.PlaceCustomOrder(ctx, i.Client, i.Env["GIFTING_BRAND_ID"], "SEK")
	require.NoError(t, err)
	require.Equal(t, "quickstart-go", *custom.ExternalOrderID)
	require.NoError(t, samples.ForcedAnswer(ctx, i.Client, i.order("sample-forced")))
	require.True(t, gifting.HasCode(samples.HandleErrors(ctx, i.Client), gifting.CodeInvalidRequest))
	require.NoError(t, samples.ListOrders(ctx, i.Client))
	require.NoError(t, samples.GetOrder(ctx, i.Client, order.ID))
	require.NoError(t, samples.UpdateDelivery(ctx, i.Client, order))
	require.NoError(t, samples.PostOrderMessage(ctx, i.Client, order.ID))
	require.NoError(t, samples.PostSandboxMessage(ctx, i.Client, order.ID))
	require.NoError(t, samples.ListOrderMessages(ctx, i.Client, order.ID))
	require.NoError(t, samples.DispatchSandboxOrder(ctx, i.Client, order.ID))
	require.NoError(t, samples.CorrectSandboxTracking(ctx, i.Client, order.ID))
	require.NoError(t, samples.DeliverSandboxOrder(ctx, i.Client, order.ID))
	require.True(t, gifting.HasCode(samples.CancelOrder(ctx, i.Client, order.ID), gifting.CodeNotCancellable))
	require.NoError(t, samples.CorrectSandboxStatus(ctx, i.Client, order.ID))
	require.NoError(t, samples.CancelOrder(ctx, i.Client, order.ID))

	approving, err := gifting.New(i.Env["GIFTING_URL"], i.Env["GIFTING_KEY_APPROVAL"])
	require.NoError(t, err)
	brands, err := approving.Brands.List(ctx)
	require.NoError(t, err)
	waiting := i.order("sample-2")
	waiting.BrandID = &brands[0].ID
	me, err := approving.Account.Me(ctx)
	require.NoError(t, err)
	waiting.Items[0].Budget.Currency = me.Tenant.Currency
	order, err = approving.Orders.Place(ctx, waiting)
	require.NoError(t, err)
	require.NoError(t, samples.ApproveSandboxOrder(ctx, approving, order.ID))
	batch := gifting.CreatePersonalLinksRequest{
		BrandID: &brands[0].ID, ProductIDs: []string{i.Env["GIFTING_PRODUCT_ID"]},
		Recipients: []gifting.PersonalLinkRecipient{{Label: "Ann"}},
	}
	links, err := approving.PersonalLinks.Create(ctx, batch)
	require.NoError(t, err)
	require.NoError(t, samples.ApproveSandboxPersonalLink(ctx, approving, links.Results[0].Link.ID))
}

func (i integrator) testLinkSamples(t *testing.T) {
	ctx := t.Context()
	for _, end := range []func(context.Context, *gifting.Client, string) error{
		samples.ClaimSandboxPersonalLink, samples.CancelPersonalLink,
	} {
		links, err := samples.CreatePersonalLinks(ctx, i.Client, i.Env["GIFTING_CAMPAIGN_ID"])
		require.NoError(t, err)
		require.NoError(t, samples.GetPersonalLink(ctx, i.Client, links.Results[0].Link.ID))
		require.NoError(t, end(ctx, i.Client, links.Results[0].Link.ID))
	}
	require.NoError(t, samples.ListPersonalLinks(ctx, i.Client))
}

func (i integrator) testEventSamples(t *testing.T) {
	ctx := t.Context()
	errEnough := errors.New("enough")
	require.ErrorIs(t, samples.ListEvents(ctx, i.Client, "", func(cursor string) error {
		require.NotEmpty(t, cursor)
		return errEnough
	}), errEnough)
	end, err := samples.EndOfFeed(ctx, i.Client)
	require.NoError(t, err)
	require.NotEmpty(t, end)
	oldest, err := i.Events.List(ctx, gifting.ListEventsQuery{Paging: gifting.Paging{Limit: 1}})
	require.NoError(t, err)
	next, err := samples.NextEvents(ctx, i.Client, oldest.NextCursor)
	require.NoError(t, err)
	require.NotEqual(t, oldest.NextCursor, next)
	refused := httptest.NewRecorder()
	samples.VerifyWebhook(refused, httptest.NewRequestWithContext(ctx, http.MethodPost, "/webhooks", strings.NewReader("{}")))
	require.Equal(t, http.StatusUnauthorized, refused.Code)
	require.NoError(t, samples.TestWebhook(ctx, i.Client))
	require.NoError(t, samples.GetWebhookHealth(ctx, i.Client))
	var deliveries *gifting.Page[gifting.WebhookDelivery]
	require.Eventually(t, func() bool {
		var err error
		deliveries, err = i.Client.Webhooks.Deliveries(ctx,
			gifting.ListWebhookDeliveriesQuery{State: gifting.WebhookDeliveryStateDELIVERED}).First()
		return err == nil && len(deliveries.Items) > 0
	}, 30*time.Second, 100*time.Millisecond)
	require.NoError(t, samples.ListWebhookDeliveries(ctx, i.Client))
	require.NoError(t, samples.ResendWebhookDelivery(ctx, i.Client, deliveries.Items[0].ID))
	require.NoError(t, samples.ReplayWebhooks(ctx, i.Client))
	require.NoError(t, samples.RotateOwnWebhookSecret(ctx, i.Client, func(secret string) error {
		require.Len(t, secret, 64)
		return nil
	}))
}

func (i integrator) testSandboxCatalogSamples(t *testing.T) {
	ctx := t.Context()
	campaign, err := i.Campaigns.Get(ctx, i.Env["GIFTING_CAMPAIGN_ID"], gifting.GetCampaignQuery{})
	require.NoError(t, err)
	sku := ""
	for _, offering := range campaign.Offerings {
		for _, one := range offering.Skus {
			if one.StockRemaining != nil {
				sku = one.ID
			}
		}
	}
	require.NoError(t, samples.SetSandboxStock(ctx, i.Client, campaign.ID, sku))
	gift := i.Env["GIFTING_PRODUCT_ID"]
	require.NoError(t, samples.SetSandboxProductAvailable(ctx, i.Client, gift))
	require.NoError(t, samples.UnlistSandboxProduct(ctx, i.Client, gift))
	require.NoError(t, samples.RelistSandboxProduct(ctx, i.Client, gift))
}
