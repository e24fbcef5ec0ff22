package server

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

func (p presenter) campaign(c store.CampaignView) *catalogv1.Campaign {
	out := &catalogv1.Campaign{
		Id: c.ID, BrandId: c.BrandID, Name: c.Name, Status: campaignStatus(c.Status), ExpiresAt: timestamp(c.ExpiresAt),
	}
	for _, o := range c.Offerings {
		out.Offerings = append(out.Offerings, p.offering(o))
	}
	return out
}

func (p presenter) offering(o store.OfferingView) *catalogv1.Offering {
	return &catalogv1.Offering{
		ProductId: o.ProductID, Name: o.Text.Name, Images: p.images(o.Images),
		Status: offeringStatus(o.Status), SupplyType: supplyType(o.SupplyType), Skus: skus(o.SKUs),
	}
}

func skus(list []store.SKUView) []*catalogv1.Sku {
	out := make([]*catalogv1.Sku, len(list))
	for i, s := range list {
		out[i] = &catalogv1.Sku{Id: s.ID, Variations: s.Variations, StockRemaining: s.Stock}
	}
	return out
}

// The stored names are those of the contract behind its prefixes.

func campaignStatus(stored string) catalogv1.CampaignStatus {
	return catalogv1.CampaignStatus(catalogv1.CampaignStatus_value["CAMPAIGN_STATUS_"+stored])
}

func offeringStatus(stored string) catalogv1.OfferingStatus {
	return catalogv1.OfferingStatus(catalogv1.OfferingStatus_value["OFFERING_STATUS_"+stored])
}

func supplyType(stored string) catalogv1.SupplyType {
	return catalogv1.SupplyType(catalogv1.SupplyType_value["SUPPLY_TYPE_"+stored])
}

// timestamp is nil for no instant, which is written as null.
func timestamp(at *time.Time) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return timestamppb.New(*at)
}
