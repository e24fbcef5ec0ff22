package server

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

func (p presenter) campaign(c store.CampaignView) *catalogv1.Campaign {
	out := &catalogv1.Campaign{
		Id: c.ID, BrandId: c.BrandID, Name: c.Name, Status: enum[catalogv1.CampaignStatus](c.Status), ExpiresAt: timestamp(c.ExpiresAt),
	}
	for _, o := range c.Offerings {
		out.Offerings = append(out.Offerings, p.offering(o))
	}
	return out
}

func (p presenter) offering(o store.OfferingView) *catalogv1.Offering {
	return &catalogv1.Offering{
		ProductId: o.ProductID, Name: o.Text.Name, Images: p.images(o.Images),
		Status:     enum[catalogv1.OfferingStatus](o.Status),
		SupplyType: enum[catalogv1.SupplyType](o.SupplyType), Skus: skus(o.SKUs),
	}
}

func skus(list []store.SKUView) []*catalogv1.Sku {
	out := make([]*catalogv1.Sku, len(list))
	for i, s := range list {
		out[i] = &catalogv1.Sku{Id: s.ID, Variations: s.Variations, StockRemaining: s.Stock}
	}
	return out
}

// enum returns the value that has a stored name.
func enum[E enumname.Enum](stored string) E {
	value, _ := enumname.Parse[E](stored)
	return value
}

// timestamp keeps nil, which is written as null.
func timestamp(at *time.Time) *timestamppb.Timestamp {
	if at == nil {
		return nil
	}
	return timestamppb.New(*at)
}
