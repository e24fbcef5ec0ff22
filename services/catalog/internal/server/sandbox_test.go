package server_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// post is the context of a POST by a key of the tenant.
func (f *fixture) post(idempotencyKey string) context.Context {
	f.t.Helper()
	p := caller.Principal{TenantID: tenantID, KeyID: 7, AllBrands: true, TenantVersion: 1}
	ctx, err := caller.Outgoing(f.t.Context(), p,
		caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
	require.NoError(f.t, err)
	return ctx
}

// changeForTenant changes a gift for the tenant only. The gift may not be in the catalog.
func (f *fixture) changeForTenant(random *rand.Rand, id string) (err error) {
	ctx := f.post(uuid.NewString())
	switch random.IntN(3) {
	case 0:
		_, err = f.sandbox.UnlistSandboxProduct(ctx, &catalogv1.UnlistSandboxProductRequest{ProductId: id})
	case 1:
		_, err = f.sandbox.RelistSandboxProduct(ctx, &catalogv1.RelistSandboxProductRequest{ProductId: id})
	default:
		_, err = f.sandbox.SetSandboxProductAvailable(ctx, &catalogv1.SetSandboxProductAvailableRequest{
			ProductId: id, Country: "SE", Available: new(random.IntN(2) == 0),
		})
	}
	if problem.Is(err, problem.NotFound) {
		return nil
	}
	return err
}

func (f *fixture) unlist(t *testing.T, id string) {
	t.Helper()
	_, err := f.sandbox.UnlistSandboxProduct(f.post(uuid.NewString()), &catalogv1.UnlistSandboxProductRequest{ProductId: id})
	require.NoError(t, err)
}

func (f *fixture) relist(t *testing.T, id string) *catalogv1.Product {
	t.Helper()
	resp, err := f.sandbox.RelistSandboxProduct(f.post(uuid.NewString()), &catalogv1.RelistSandboxProductRequest{ProductId: id})
	require.NoError(t, err)
	return resp.GetProduct()
}

func (f *fixture) setAvailable(t *testing.T, id, country string, available bool) *catalogv1.Product {
	t.Helper()
	resp, err := f.sandbox.SetSandboxProductAvailable(f.post(uuid.NewString()),
		&catalogv1.SetSandboxProductAvailableRequest{ProductId: id, Country: country, Available: &available})
	require.NoError(t, err)
	return resp.GetProduct()
}

// product reads a gift for Sweden, as the tenant of the context.
func (f *fixture) product(ctx context.Context, id string) (*catalogv1.Product, error) {
	resp, err := f.catalog.GetProduct(ctx, &catalogv1.GetProductRequest{ProductId: id, Country: "SE"})
	return resp.GetProduct(), err
}

// itemOf is an order of the gift in size M, perhaps from a campaign.
func itemOf(id string, campaignID *string) *catalogv1.CheckItemRequest {
	return &catalogv1.CheckItemRequest{
		TenantId: tenantID, ProductId: id, CampaignId: campaignID, AllBrands: true, Country: "SE",
		Variations: map[string]string{"Size": "M"},
	}
}

func TestATenantUnlistsAGiftForItself(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	campaignID, id := f.campaignWithStock(3)
	before, err := f.product(f.keyContext(1), id)
	require.NoError(t, err)
	f.unlist(t, id)
	t.Run("it is neither ordered nor offered by links", func(t *testing.T) {
		refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, itemOf(id, nil))
		refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, itemOf(id, &campaignID))
		refused(f, problem.ProductNotAvailable, f.selections.CheckSelection, &catalogv1.CheckSelectionRequest{
			TenantId: tenantID, Selection: ofGifts(id),
		})
		for _, selection := range []*catalogv1.Selection{ofGifts(id), ofCampaign(campaignID)} {
			require.Empty(t, f.siteGifts(selection, "en-US").GetGifts())
		}
	})
	t.Run("other tenants do not see the change", func(t *testing.T) {
		theirs, err := f.product(f.asOtherTenant(), id)
		require.NoError(t, err)
		require.True(t, proto.Equal(before, theirs), "the twin of the change is that it is not unlisted")
		item := itemOf(id, nil)
		item.TenantId = otherTenantID
		call(f, f.ordering.CheckItem, item)
	})
	t.Run("its availability is that of a gift that does not exist", func(*testing.T) {
		refused(f, problem.NotFound, f.sandbox.SetSandboxProductAvailable,
			&catalogv1.SetSandboxProductAvailableRequest{ProductId: id, Country: "SE", Available: new(true)})
	})
	t.Run("and lists it again", func(t *testing.T) {
		f.unlist(t, id) // Again it does not change.
		require.True(t, proto.Equal(f.relist(t, id), f.relist(t, id)))
		require.Equal(t, []string{"sandbox.relist", "sandbox.unlist"}, f.audit(id))
		call(f, f.ordering.CheckItem, itemOf(id, &campaignID))
	})
	t.Run("a repetition has no second effect", func(t *testing.T) {
		req := &catalogv1.UnlistSandboxProductRequest{ProductId: id}
		first, err := f.sandbox.UnlistSandboxProduct(f.post("u"), req)
		require.NoError(t, err)
		f.relist(t, id)
		again, err := f.sandbox.UnlistSandboxProduct(f.post("u"), req)
		require.NoError(t, err)
		require.True(t, proto.Equal(first, again))
		_, err = f.product(f.keyContext(1), id)
		require.NoError(t, err)
	})
}

func TestATenantChangesWhereAGiftCanBeSent(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	p := gift(func(p *catalogv1.PutProductRequest) { p.AvailableCountries = []string{"SE", "FI"} })
	f.put(p)
	id := p.GetId()
	before, err := f.product(f.keyContext(1), id)
	require.NoError(t, err)
	require.True(t, proto.Equal(before, f.setAvailable(t, id, "SE", true)), "unchanged")
	gone := f.setAvailable(t, id, "SE", false)
	refused(f, problem.NotDeliverableToCountry, f.ordering.CheckItem, itemOf(id, nil))
	require.True(t, f.setAvailable(t, id, "DE", true).GetAvailable())
	require.Equal(t, []string{"DE", "FI"}, f.siteGifts(ofGifts(id), "en-US").GetGifts()[0].GetCountries())
	require.Equal(t, []string{id}, ids(f.changedSince(gone.GetUpdatedAt().AsTime())))

	t.Run("the answer of a relist shows the first country", func(t *testing.T) {
		f.unlist(t, id)
		require.True(t, f.relist(t, id).GetAvailable(), "for DE")
		sweden, err := f.sandbox.RelistSandboxProduct(f.post("se"), &catalogv1.RelistSandboxProductRequest{
			ProductId: id, Country: new("SE"),
		})
		require.NoError(t, err)
		require.False(t, sweden.GetProduct().GetAvailable())
	})
	t.Run("a change for all tenants comes later", func(t *testing.T) {
		p.Name = "Renamed"
		at := f.put(p)
		renamed, err := f.product(f.keyContext(1), id)
		require.NoError(t, err)
		require.Equal(t, at, renamed.GetUpdatedAt().AsTime())
		require.Equal(t, []string{id}, ids(f.changedSince(at)))
		require.False(t, renamed.GetAvailable())
	})
}

func TestProductionHasNoChangesOfTenants(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	at := f.put(p)
	_, err := f.sandbox.UnlistSandboxProduct(f.post("u"), &catalogv1.UnlistSandboxProductRequest{ProductId: p.GetId()})
	require.ErrorContains(t, err, "unknown service")
	pgtest.Exec(t, f.db, `INSERT INTO sandbox_products (tenant_id, product_id, unlisted, added, removed, updated_at)
VALUES ($1, $2, true, '{}', '{SE}', $3)`,
		tenantID, p.GetId(), at.Add(time.Hour))
	listed, err := f.product(f.keyContext(1), p.GetId())
	require.NoError(t, err)
	require.True(t, listed.GetAvailable())
	require.Equal(t, at, listed.GetUpdatedAt().AsTime())
}

func (f *fixture) setStock(ctx context.Context, campaignID, skuID string, stock int32) error {
	_, err := f.sandbox.SetSandboxStock(ctx, &catalogv1.SetSandboxStockRequest{
		CampaignId: campaignID, SkuId: skuID, StockRemaining: &stock,
	})
	return err
}

func TestAKeySetsTheStockOfACampaign(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	id, product := f.campaignWithStock(3)
	sku := f.skuID(id, "M")
	require.NoError(t, f.setStock(f.post("a"), id, sku, 1))
	reserved := call(f, f.ordering.Reserve, attempt(id, product, "M"))
	refused(f, problem.OutOfStock, f.ordering.Reserve, attempt(id, product, "M"))
	require.Equal(t, []string{"stock.correct"}, f.audit(id))
	require.NoError(t, f.setStock(f.post("b"), id, sku, 1_000_000_000-1))
	f.confirmAndRelease(nil, []string{reserved.GetOrderId()})
	require.EqualValues(t, 1_000_000_000, *f.stock(id, "M"), "the unit of a cancelled order comes back")
}

func TestAKeySetsOnlyTheStockOfItsCampaign(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	id, product := f.campaignWithStock(3)
	other, _ := f.campaignWithStock(3)
	unlimited := f.campaignIn(running, nil, offering(product, onDemand, nil, "M"))
	for name, req := range map[string]*catalogv1.SetSandboxStockRequest{
		"a SKU of another campaign": {CampaignId: id, SkuId: f.skuID(other, "M"), StockRemaining: new(int32(1))},
		"a SKU without stock":       {CampaignId: unlimited, SkuId: f.skuID(unlimited, "M"), StockRemaining: new(int32(1))},
		"an id that is no id":       {CampaignId: id, SkuId: "x", StockRemaining: new(int32(1))},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, codes{"skuId": "invalid"}, violations(f, f.sandbox.SetSandboxStock, req))
		})
	}
	require.EqualValues(t, 3, *f.stock(id, "M"))
}

// Stock is set while units are taken and returned. Each call sees the stock that the one before has left, so that units are neither
// lost nor oversold.
func TestStockIsSetBesideReservations(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	const units, buyers, each = 20, 4, 15
	id, product := f.campaignWithStock(units)
	sku := f.skuID(id, "M")
	var group errgroup.Group
	taken := make([]int, buyers)
	for b := range buyers {
		group.Go(func() error {
			for range each {
				_, err := f.ordering.Reserve(f.keyContext(1), attempt(id, product, "M"))
				if err == nil {
					taken[b]++
				} else if !problem.Is(err, problem.OutOfStock) {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range each {
			if err := f.setStock(f.post(uuid.NewString()), id, sku, units); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, group.Wait())
	held := pgtest.Value[int](t, f.db, `SELECT coalesce(sum(units), 0) FROM reservations WHERE sku_id = $1`, sku)
	require.Equal(t, taken[0]+taken[1]+taken[2]+taken[3], held)
	// Between two entries of the audit only reservations change the stock.
	added := pgtest.Value[int](t, f.db, `SELECT coalesce(sum((detail->>'after')::int - (detail->>'before')::int), 0)
FROM catalog_audit WHERE subject_id = $1`, id)
	require.EqualValues(t, units+added-held, *f.stock(id, "M"))
}
