package catalog_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

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
		Id: uuid.NewString(), TenantId: tenantID, BrandId: brandID, Name: "Summer",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, Offerings: offerings,
	}
}

func (s *stack) putCampaign(c *catalogv1.PutCampaignRequest) {
	s.t.Helper()
	_, err := s.ops.PutCampaign(s.t.Context(), c)
	require.NoError(s.t, err)
}

// stock is what is left of a SKU.
func (s *stack) stock(campaignID, size string) *int32 {
	s.t.Helper()
	var stock *int32
	err := s.db.QueryRow(s.t.Context(), `SELECT stock FROM skus WHERE campaign_id = $1 AND variations_key = $2`,
		campaignID, rules.VariationsKey(map[string]string{"Size": size})).Scan(&stock)
	require.NoError(s.t, err)
	return stock
}

const (
	stocked  = catalogv1.SupplyType_SUPPLY_TYPE_STOCKED
	onDemand = catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND
)

func TestStockOfASKUThatExistsIsLeftAsItIs(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	c := campaign(offering(p.GetId(), stocked, limit(5), "S", "M"))
	s.putCampaign(c)
	r := s.attempt(c.GetId(), p.GetId(), "S")
	_, err := s.ordering.Reserve(t.Context(), r)
	require.NoError(t, err)

	t.Run("when the campaign is put again", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		s.putCampaign(c)
		require.EqualValues(t, 4, *s.stock(c.GetId(), "S"))
		require.EqualValues(t, 5, *s.stock(c.GetId(), "M"))
	})
	t.Run("when it was not offered for a while, and a unit came back meanwhile", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "M")}
		s.putCampaign(c)
		s.settle(nil, []string{r.GetOrderId()})
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		s.putCampaign(c)
		require.EqualValues(t, 5, *s.stock(c.GetId(), "S"))
	})
	t.Run("when it was on demand for a while", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), onDemand, nil, "S", "M")}
		s.putCampaign(c)
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		s.putCampaign(c)
		require.EqualValues(t, 5, *s.stock(c.GetId(), "S"))
	})
	t.Run("a SKU that never had stock gets it when it becomes stocked", func(t *testing.T) {
		other := campaign(offering(p.GetId(), onDemand, nil, "S"))
		s.putCampaign(other)
		require.Nil(t, s.stock(other.GetId(), "S"))
		other.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(3), "S")}
		s.putCampaign(other)
		require.EqualValues(t, 3, *s.stock(other.GetId(), "S"))
	})
}

func TestFaultyCampaigns(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	good := campaign(offering(p.GetId(), stocked, limit(1), "S"))
	for name, tc := range map[string]struct {
		change func(c *catalogv1.PutCampaignRequest)
		want   map[string]string
	}{
		"nothing in it": {
			func(c *catalogv1.PutCampaignRequest) { proto.Reset(c) },
			map[string]string{"id": "required", "tenantId": "required", "brandId": "required", "name": "required", "status": "required"},
		},
		"no tenant of that id": {
			func(c *catalogv1.PutCampaignRequest) { c.TenantId = uuid.NewString() },
			map[string]string{"tenantId": "invalid"},
		},
		"a brand of somebody else": {
			func(c *catalogv1.PutCampaignRequest) { c.BrandId = uuid.NewString() },
			map[string]string{"brandId": "invalid"},
		},
		"an unknown gift": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].ProductId = uuid.NewString() },
			map[string]string{"offerings[0].productId": "invalid"},
		},
		"a gift twice": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings = append(c.GetOfferings(), c.GetOfferings()[0]) },
			map[string]string{"offerings[1].productId": "duplicate"},
		},
		"a combination the gift does not come in": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "XXL")
				c.Offerings[0].Skus = append(c.Offerings[0].Skus, &catalogv1.SkuInput{})
			},
			map[string]string{"offerings[0].skus[1].variations": "invalid", "offerings[0].skus[2].variations": "invalid"},
		},
		"the same combination twice": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "S")
			},
			map[string]string{"offerings[0].skus[1].variations": "duplicate"},
		},
		"stock that cannot be": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(-1), "S")
				c.Offerings = append(c.Offerings, offering(uuid.NewString(), onDemand, limit(1), "S"))
			},
			map[string]string{"offerings[0].skus[0].initialStock": "invalid", "offerings[1].skus[0].initialStock": "invalid"},
		},
		"nothing offered of a gift": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].Skus, c.Offerings[0].SupplyType = nil, 0 },
			map[string]string{"offerings[0].skus": "required", "offerings[0].supplyType": "required"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := proto.CloneOf(good)
			tc.change(c)
			_, err := s.ops.PutCampaign(t.Context(), c)
			require.Equal(t, tc.want, violations(t, err))
		})
	}
}
