package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

func limit(n int32) *int32 { return &n }

func text(s string) *string { return &s }

// staff is a person of the back office.
func staff() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Ines Holm"}
}

// gift is a published gift in two sizes for Sweden, without a price.
func gift(change ...func(*catalogv1.PutProductRequest)) *catalogv1.PutProductRequest {
	p := &catalogv1.PutProductRequest{
		Id:                 uuid.NewString(),
		State:              published,
		Name:               "Wool blanket",
		Description:        "Warm.",
		Variations:         []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}},
		AvailableCountries: []string{"SE"},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func withState(state catalogv1.ProductState) func(*catalogv1.PutProductRequest) {
	return func(p *catalogv1.PutProductRequest) { p.State = state }
}

// offering offers sizes of a gift with the same stock each.
func offering(productID string, supply catalogv1.SupplyType, stock *int32, sizes ...string) *catalogv1.OfferingInput {
	o := &catalogv1.OfferingInput{ProductId: productID, SupplyType: supply}
	for _, size := range sizes {
		o.Skus = append(o.Skus, &catalogv1.SkuInput{Variations: map[string]string{"Size": size}, InitialStock: stock})
	}
	return o
}

// campaign is an active campaign of the tenant's brand.
func campaign(offerings ...*catalogv1.OfferingInput) *catalogv1.PutCampaignRequest {
	return &catalogv1.PutCampaignRequest{
		Id: uuid.NewString(), TenantId: tenantID, BrandId: brandID, Name: "Summer", Status: running, Offerings: offerings,
	}
}

func (f *fixture) putRegion(code string, countries ...string) {
	f.t.Helper()
	call(f, f.ops.PutRegion, &catalogv1.PutRegionRequest{Code: code, Countries: countries})
}

func (f *fixture) putRate(currency, rate string) {
	f.t.Helper()
	call(f, f.ops.PutExchangeRate, &catalogv1.PutExchangeRateRequest{Currency: currency, Rate: rate})
}

func (f *fixture) putCategory(code string, subcategories ...string) {
	f.t.Helper()
	c := &catalogv1.Category{Code: code, Name: "Name of " + code}
	for _, sub := range subcategories {
		c.Subcategories = append(c.Subcategories, &catalogv1.Subcategory{Code: code + "__" + sub, Name: "Name of " + sub})
	}
	call(f, f.ops.PutCategory, &catalogv1.PutCategoryRequest{Category: c})
}

// put puts a gift and returns its updatedAt.
func (f *fixture) put(p *catalogv1.PutProductRequest) time.Time {
	f.t.Helper()
	return call(f, f.ops.PutProduct, p).GetUpdatedAt().AsTime()
}

// putGifts puts several gifts and returns their ids.
func (f *fixture) putGifts(n int) []string {
	f.t.Helper()
	all := make([]string, n)
	for i := range all {
		p := gift()
		f.put(p)
		all[i] = p.GetId()
	}
	return all
}

func (f *fixture) putCampaign(c *catalogv1.PutCampaignRequest) {
	f.t.Helper()
	call(f, f.ops.PutCampaign, c)
}

// campaignIn puts a campaign in the status.
func (f *fixture) campaignIn(status catalogv1.CampaignStatus, expires *time.Time, offerings ...*catalogv1.OfferingInput) string {
	f.t.Helper()
	c := campaign(offerings...)
	c.Status = status
	if expires != nil {
		c.ExpiresAt = timestamppb.New(*expires)
	}
	f.putCampaign(c)
	return c.GetId()
}

// campaignWithStock puts a campaign that offers a gift in sizes S and M with the same stock each.
func (f *fixture) campaignWithStock(units int32) (campaignID, productID string) {
	f.t.Helper()
	p := gift()
	f.put(p)
	return f.campaignIn(running, nil, offering(p.GetId(), stocked, &units, "S", "M")), p.GetId()
}

func (f *fixture) readCampaign(id string) *catalogv1.Campaign {
	f.t.Helper()
	return call(f, f.catalog.GetCampaign, &catalogv1.GetCampaignRequest{CampaignId: id}).GetCampaign()
}

// stock is the stock of a SKU.
func (f *fixture) stock(campaignID, size string) *int32 {
	f.t.Helper()
	return pgtest.Value[*int32](f.t, f.db,
		`SELECT stock FROM skus WHERE tenant_id = $1 AND campaign_id = $2 AND variations_key = $3`,
		tenantID, campaignID, rules.VariationsKey(map[string]string{"Size": size}))
}

// attempt is a request for a unit with a new key for a new order.
func attempt(campaignID, productID, size string) *catalogv1.ReserveRequest {
	return &catalogv1.ReserveRequest{
		ReservationKey: []byte(uuid.NewString()), OrderId: uuid.NewString(), TenantId: tenantID,
		CampaignId: campaignID, ProductId: productID, Variations: map[string]string{"Size": size},
	}
}

// confirmAndRelease changes the reservations of orders.
func (f *fixture) confirmAndRelease(confirmed, released []string) {
	f.t.Helper()
	call(f, f.ordering.SettleReservations, &catalogv1.SettleReservationsRequest{
		ConfirmedOrderIds: confirmed, ReleasedOrderIds: released,
	})
}

// pages reads all pages of a list and checks that all but the last are full.
func pages[T any](t *testing.T, size int32, read func(after *string) (items []T, next *string)) (all []T) {
	t.Helper()
	items, next := read(nil)
	for next != nil {
		require.Len(t, items, int(size))
		all = append(all, items...)
		items, next = read(next)
	}
	return append(all, items...)
}

// list reads all pages of gifts.
func (f *fixture) list(req *catalogv1.ListProductsRequest) []*catalogv1.ProductEntry {
	f.t.Helper()
	return pages(f.t, req.GetLimit(), func(after *string) ([]*catalogv1.ProductEntry, *string) {
		req.After = after
		page := call(f, f.catalog.ListProducts, req)
		return page.GetItems(), page.NextCursor
	})
}

func (f *fixture) changedSince(since time.Time) []*catalogv1.ProductEntry {
	f.t.Helper()
	return f.list(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: timestamppb.New(since), Limit: limit(2)})
}

func ids(entries []*catalogv1.ProductEntry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.GetProduct().GetId()
	}
	return out
}

// audit returns the actions on a record, newest first.
func (f *fixture) audit(subject string) (actions []string) {
	f.t.Helper()
	for _, e := range pages(f.t, 2, func(after *string) ([]*catalogv1.AuditEntry, *string) {
		page := call(f, f.products.ListAudit, &catalogv1.ListAuditRequest{SubjectId: subject, Limit: limit(2), After: after})
		return page.GetEntries(), page.NextCursor
	}) {
		actions = append(actions, e.GetAction())
		require.Contains(f.t, []string{"staff-7", "Sandbox"}, e.GetActor().GetId())
		require.Empty(f.t, e.GetActor().GetName())
		require.NotNil(f.t, e.GetAt())
	}
	wrong := pgtest.Value[int](f.t, f.db, `SELECT count(*) FROM catalog_audit
WHERE tenant_id IS DISTINCT FROM CASE WHEN NOT starts_with(action, 'product.') THEN $1::uuid END`,
		tenantID)
	require.Zero(f.t, wrong, "only a change of a gift for all tenants has no tenant")
	return actions
}

// lastDetail is the detail of the last act on a gift or a campaign.
func (f *fixture) lastDetail(subject string) string {
	f.t.Helper()
	page := call(f, f.products.ListAudit, &catalogv1.ListAuditRequest{SubjectId: subject, Limit: limit(1)})
	require.Len(f.t, page.GetEntries(), 1)
	return page.GetEntries()[0].GetDetail()
}
