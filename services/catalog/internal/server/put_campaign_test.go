package server_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestPuttingACampaignKeepsTheStockOfExistingSKUs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := campaign(offering(p.GetId(), stocked, limit(5), "S", "M"))
	f.putCampaign(c)
	r := attempt(c.GetId(), p.GetId(), "S")
	call(f, f.ordering.Reserve, r)
	t.Run("when the campaign is put again", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 4, *f.stock(c.GetId(), "S"))
		require.EqualValues(t, 5, *f.stock(c.GetId(), "M"))
	})
	t.Run("when it was not offered for a while, and a unit came back meanwhile", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "M")}
		f.putCampaign(c)
		f.confirmAndRelease(nil, []string{r.GetOrderId()})
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 5, *f.stock(c.GetId(), "S"))
	})
	t.Run("when it was on demand for a while", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), onDemand, nil, "S", "M")}
		f.putCampaign(c)
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 5, *f.stock(c.GetId(), "S"))
	})
	t.Run("a SKU that never had stock gets it when it becomes stocked", func(t *testing.T) {
		other := campaign(offering(p.GetId(), onDemand, nil, "S"))
		f.putCampaign(other)
		require.Nil(t, f.stock(other.GetId(), "S"))
		other.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(3), "S")}
		f.putCampaign(other)
		require.EqualValues(t, 3, *f.stock(other.GetId(), "S"))
	})
}

func TestInvalidCampaigns(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	good := campaign(offering(p.GetId(), stocked, limit(1), "S"))
	for name, tc := range map[string]struct {
		change func(c *catalogv1.PutCampaignRequest)
		want   codes
	}{
		"an empty request": {
			func(c *catalogv1.PutCampaignRequest) { proto.Reset(c) },
			codes{"id": "required", "tenantId": "required", "brandId": "required", "name": "required", "status": "required"},
		},
		"an unknown tenant": {
			func(c *catalogv1.PutCampaignRequest) { c.TenantId = uuid.NewString() },
			codes{"tenantId": "invalid"},
		},
		"a brand of another tenant": {
			func(c *catalogv1.PutCampaignRequest) { c.BrandId = uuid.NewString() },
			codes{"brandId": "invalid"},
		},
		"an unknown gift": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].ProductId = uuid.NewString() },
			codes{"offerings[0].productId": "invalid"},
		},
		"a gift twice": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings = append(c.GetOfferings(), c.GetOfferings()[0]) },
			codes{"offerings[1].productId": "duplicate"},
		},
		"a combination the gift does not come in": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "XXL")
				c.Offerings[0].Skus = append(c.Offerings[0].Skus, &catalogv1.SkuInput{})
			},
			codes{"offerings[0].skus[1].variations": "invalid", "offerings[0].skus[2].variations": "invalid"},
		},
		"the same combination twice": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "S")
			},
			codes{"offerings[0].skus[1].variations": "duplicate"},
		},
		"invalid stock": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(-1), "S")
				c.Offerings = append(c.Offerings, offering(uuid.NewString(), onDemand, limit(1), "S"))
			},
			codes{"offerings[0].skus[0].initialStock": "invalid", "offerings[1].skus[0].initialStock": "invalid"},
		},
		"an offering without SKUs": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].Skus, c.Offerings[0].SupplyType = nil, 0 },
			codes{"offerings[0].skus": "required", "offerings[0].supplyType": "required"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := proto.CloneOf(good)
			tc.change(c)
			require.Equal(t, tc.want, violations(f, f.ops.PutCampaign, c))
		})
	}
}
