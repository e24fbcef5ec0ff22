package seed

import (
	"context"
	"fmt"
	"maps"

	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// offer is a gift in a campaign. units is the initial stock of each combination; zero means on demand, without limit.
type offer struct {
	slug  string
	units int32
}

type campaign struct {
	request *catalogv1.PutCampaignRequest
	offers  []offer
}

func campaigns() []campaign {
	return []campaign{
		{
			request: &catalogv1.PutCampaignRequest{
				Id: Campaign, TenantId: Direct, BrandId: Brand, Name: "Midsummer",
				Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
			},
			offers: []offer{
				{"dark-truffles", 0}, {"steel-bottle", 500}, {"hooded-sweatshirt", 200}, {"scented-candle", 0}, {"glass-vase", 25},
			},
		},
		{
			request: &catalogv1.PutCampaignRequest{
				Id: id("campaign/advent"), TenantId: Approving, BrandId: id("brand/rheingold"), Name: "Advent",
				Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT,
			},
			offers: []offer{{"riesling-pair", 60}, {"wool-throw", 40}, {"nordic-hamper", 0}},
		},
	}
}

func (s *seeder) putCampaigns(ctx context.Context) error {
	gifts, err := giftsBySlug()
	if err != nil {
		return err
	}
	for _, c := range campaigns() {
		for _, o := range c.offers {
			c.request.Offerings = append(c.request.Offerings, o.input(gifts[o.slug]))
		}
		if _, err := s.catalog.PutCampaign(ctx, c.request); err != nil {
			return fmt.Errorf("campaign %s: %w", c.request.GetName(), err)
		}
	}
	return nil
}

func giftsBySlug() (map[string]gift, error) {
	categories, err := readCategories()
	if err != nil {
		return nil, err
	}
	out := map[string]gift{}
	for _, c := range categories {
		for _, g := range c.Gifts {
			out[g.Slug] = g
		}
	}
	return out, nil
}

// input offers the gift in every combination.
func (o offer) input(g gift) *catalogv1.OfferingInput {
	in := &catalogv1.OfferingInput{ProductId: GiftID(o.slug), SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND}
	if o.units > 0 {
		in.SupplyType = catalogv1.SupplyType_SUPPLY_TYPE_STOCKED
	}
	for _, choice := range combinations(g.Variations) {
		sku := &catalogv1.SkuInput{Variations: choice}
		if o.units > 0 {
			sku.InitialStock = proto.Int32(o.units)
		}
		in.Skus = append(in.Skus, sku)
	}
	return in
}

// combinations are all choices of one value for each dimension; without dimensions there is one, the empty choice.
func combinations(variations []variation) []map[string]string {
	out := []map[string]string{{}}
	for _, v := range variations {
		var longer []map[string]string
		for _, choice := range out {
			for _, value := range v.Values {
				next := maps.Clone(choice)
				next[v.Dimension] = value
				longer = append(longer, next)
			}
		}
		out = longer
	}
	return out
}
