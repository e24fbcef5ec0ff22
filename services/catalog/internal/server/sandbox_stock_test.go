package server_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (f *fixture) setStock(ctx context.Context, campaignID, skuID string, stock int32) (*catalogv1.Campaign, error) {
	resp, err := f.sandbox.SetSandboxStock(ctx, &catalogv1.SetSandboxStockRequest{CampaignId: campaignID, SkuId: skuID, StockRemaining: &stock})
	return resp.GetCampaign(), err
}

func TestAKeySetsTheStockOfACampaign(t *testing.T) {
	t.Parallel()
	f := setupSandbox(t)
	id, product := f.campaignWithStock(3)
	sku := f.skuID(id, "M")
	campaign, err := f.setStock(f.post("a"), id, sku, 0)
	require.NoError(t, err)
	require.True(t, proto.Equal(f.readCampaign(id), campaign))
	require.EqualValues(t, 0, *f.stock(id, "M"))
	require.EqualValues(t, 3, *f.stock(id, "S"), "the other one does not change")
	refused(f, problem.OutOfStock, f.ordering.Reserve, attempt(id, product, "M"))
	require.Equal(t, []string{"stock.correct"}, f.audit(id))

	t.Run("a repetition does not set it again", func(t *testing.T) {
		_, err := f.setStock(f.post("b"), id, sku, 1)
		require.NoError(t, err)
		again, err := f.setStock(f.post("a"), id, sku, 0)
		require.NoError(t, err)
		require.True(t, proto.Equal(campaign, again))
		require.EqualValues(t, 1, *f.stock(id, "M"))
	})
	t.Run("a unit of a cancelled order comes back", func(t *testing.T) {
		reserved := call(f, f.ordering.Reserve, attempt(id, product, "M"))
		_, err := f.setStock(f.post("d"), id, sku, 1_000_000_000-1)
		require.NoError(t, err)
		f.confirmAndRelease(nil, []string{reserved.GetOrderId()})
		require.EqualValues(t, 1_000_000_000, *f.stock(id, "M"))
	})
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
	_, err := f.setStock(f.post("a", uuid.NewString()), id, f.skuID(id, "M"), 9)
	require.True(t, problem.Is(err, problem.NotFound), "a campaign of another brand: %v", err)
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
				_, err := f.ordering.Reserve(f.as(1), attempt(id, product, "M"))
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
			if _, err := f.setStock(f.post(uuid.NewString()), id, sku, units); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, group.Wait())
	var held int
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT coalesce(sum(units), 0) FROM reservations WHERE sku_id = $1`, sku).Scan(&held))
	require.Equal(t, taken[0]+taken[1]+taken[2]+taken[3], held)
	// Between two entries of the audit only reservations change the stock.
	var added int
	require.NoError(t, f.db.QueryRow(t.Context(),
		`SELECT coalesce(sum((detail->>'after')::int - (detail->>'before')::int), 0) FROM catalog_audit WHERE subject_id = $1`, id).Scan(&added))
	require.EqualValues(t, units+added-held, *f.stock(id, "M"))
}
