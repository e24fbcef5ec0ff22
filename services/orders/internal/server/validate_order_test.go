package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (f *fixture) validate(t *testing.T, r *ordersv1.PlaceOrderRequest, brands ...string) *ordersv1.ValidateOrderResponse {
	t.Helper()
	resp, err := f.ValidateOrder(f.keyContext(t, "", brands...), r)
	require.NoError(t, err)
	require.Equal(t, len(resp.GetProblems()) == 0, resp.GetValid())
	return resp
}

// problemsOf are the codes of the problems, with the fields that they name.
func problemsOf(resp *ordersv1.ValidateOrderResponse) (found []string) {
	for _, p := range resp.GetProblems() {
		text := p.GetCode()
		for _, v := range p.GetErrors() {
			text += " " + v.GetField()
		}
		found = append(found, text)
	}
	return found
}

func TestADryRunSaysHowTheOrderWouldBegin(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.preview = &catalogv1.PreviewItemResponse{
		Estimate: &commonv1.Money{Amount: "449.00", Currency: "SEK"}, EstimateEur: &commonv1.Money{Amount: "39.90", Currency: "EUR"},
	}
	f.clock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	got := f.validate(t, request("o-1"))
	require.True(t, got.GetValid())
	require.Equal(t, processingStatus, got.GetStatus())
	require.False(t, got.GetReceivedOutsideActiveHours())
	require.Equal(t, "449.00 SEK", got.GetEstimate().GetAmount()+" "+got.GetEstimate().GetCurrency())
	require.Equal(t, "39.90 EUR", got.GetEstimateEur().GetAmount()+" "+got.GetEstimateEur().GetCurrency())
	require.Equal(t, "SEK", f.catalog.asked.GetCurrency())

	f.clock = f.clock.AddDate(0, 0, 1) // A Saturday.
	f.withApproval()
	custom := request("o-1")
	custom.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: new("A signed ball"), Budget: &commonv1.Money{Amount: "1", Currency: "SEK"},
	}}
	got = f.validate(t, custom)
	require.True(t, got.GetValid())
	require.Equal(t, requestedStatus, got.GetStatus())
	require.True(t, got.GetReceivedOutsideActiveHours())
	require.Nil(t, got.GetEstimate())
	require.Nil(t, got.GetEstimateEur())
}

func TestChecksOfInvalidFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	everything := problem.New(problem.InvalidVariations, "no")
	for name, tc := range map[string]struct {
		spoil   func(r *ordersv1.PlaceOrderRequest)
		catalog error
		edge    []problem.Violation
		want    []string
	}{
		"nothing at all": {
			func(r *ordersv1.PlaceOrderRequest) { proto.Reset(r) }, everything, nil,
			[]string{"invalid_request externalOrderId items client recipient", "brand_required", "invalid_custom_fields customFields"},
		},
		"a brand that is no UUID": {
			func(r *ordersv1.PlaceOrderRequest) { r.BrandId = new("x") }, everything, nil,
			[]string{"invalid_request brandId", "invalid_variations", "invalid_custom_fields customFields"},
		},
		"a campaign of another type, and no brand": {
			func(r *ordersv1.PlaceOrderRequest) { r.BrandId = nil }, everything,
			[]problem.Violation{{Field: "campaignId", Code: problem.FieldInvalid}},
			[]string{"invalid_request campaignId", "invalid_custom_fields customFields"},
		},
		"a variation of another type": {
			func(r *ordersv1.PlaceOrderRequest) { r.Items[0].Variations = nil }, everything,
			[]problem.Violation{{Field: "items[0].variations.Size", Code: problem.FieldInvalid}},
			[]string{"invalid_request items[0].variations.Size", "invalid_custom_fields customFields"},
		},
		"a custom request whose budget has another type": {
			func(r *ordersv1.PlaceOrderRequest) { r.Items[0] = &ordersv1.OrderItemInput{} }, everything,
			[]problem.Violation{{Field: "items[0].budget", Code: problem.FieldInvalid}},
			[]string{"invalid_request items[0].budget items[0].customProductName", "invalid_custom_fields customFields"},
		},
		"customization of another type of a gift that does not allow it": {
			func(r *ordersv1.PlaceOrderRequest) { r.Customization = &ordersv1.OrderCustomization{} },
			problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid}),
			[]problem.Violation{{Field: "customization.details", Code: problem.FieldInvalid}},
			[]string{"invalid_request customization.details customization", "invalid_custom_fields customFields"},
		},
		"no country": {
			func(r *ordersv1.PlaceOrderRequest) { r.Recipient.Address.Country = "" },
			problem.New(problem.NotDeliverableToCountry, "no"), nil,
			[]string{"invalid_request recipient.address.country", "invalid_custom_fields customFields"},
		},
		"two items of a campaign that does not run": {
			func(r *ordersv1.PlaceOrderRequest) {
				r.CampaignId, r.BrandId, r.Items = new(campaignID), nil, append(r.GetItems(), r.GetItems()[0])
			}, problem.New(problem.CampaignNotActive, "no"), nil,
			[]string{"invalid_request items", "campaign_not_active", "invalid_custom_fields customFields"},
		},
		"an answer to no field, and a manager's address of any length": {
			func(r *ordersv1.PlaceOrderRequest) {
				r.CustomFields, r.ManagerEmail = []*ordersv1.CustomFieldAnswer{{FieldId: "x"}}, new(strings.Repeat("x", 256))
			}, nil, nil,
			[]string{"invalid_request customFields[0].fieldId", "manager_not_found"},
		},
		"customization of a gift that does not allow it": {
			func(r *ordersv1.PlaceOrderRequest) {
				r.Customization, r.ExternalOrderId = &ordersv1.OrderCustomization{Details: "x"}, ""
			},
			problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid}), nil,
			[]string{"invalid_request externalOrderId customization", "invalid_custom_fields customFields"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			f.changeTenant(func(s *tenantsv1.Tenant) {
				s.CustomFields = []*tenantsv1.CustomField{{Id: fieldID, Label: "Cost centre", Required: true, Type: 1}}
			})
			f.catalog.checkError = tc.catalog
			r := request("o-1")
			tc.spoil(r)
			got, err := f.ValidateOrder(caller.WithRequest(f.keyContext(t, ""), caller.Request{Violations: tc.edge}), r)
			require.NoError(t, err)
			require.Equal(t, tc.want, problemsOf(got))
			require.False(t, got.GetValid())
		})
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.placeOne(t, "o-1")
	before := pgtest.Contents(t, f.pool)
	for _, key := range []string{"", "k"} {
		for _, r := range []*ordersv1.PlaceOrderRequest{campaignRequest("o-2"), request("o-1"), request("")} {
			_, err := f.ValidateOrder(f.keyContext(t, key), r)
			require.NoError(t, err)
		}
	}
	require.Equal(t, before, pgtest.Contents(t, f.pool))
	require.Empty(t, f.catalog.holds)
}

func TestAPlacedOrderIsCheckedOnceAndNotPreviewed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := campaignRequest("o-1")
	r.Customization = &ordersv1.OrderCustomization{Details: "x"}
	_, err := f.PlaceOrder(f.keyContext(t, "k"), r)
	require.NoError(t, err)
	require.Equal(t, 1, f.catalog.checks)
	require.Nil(t, f.catalog.asked)
}

func TestADryRunFailsWithTheServicesThatItNeeds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.checkError = problem.Unavailable()
	_, err := f.ValidateOrder(f.keyContext(t, ""), request("o-1"))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	f.catalog.checkError = errCatalogDown
	_, err = f.ValidateOrder(f.keyContext(t, ""), request("o-1"))
	require.ErrorIs(t, err, errCatalogDown)
}
