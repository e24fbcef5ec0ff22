package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// presenter converts gifts to the form that callers see.
type presenter struct {
	// imageBase is the URL of an image without its id.
	imageBase string
}

func newPresenter(publicURL string) presenter {
	return presenter{imageBase: strings.TrimSuffix(publicURL, "/") + "/catalog/images/"}
}

// entry returns the gift. One that left the catalog has only its id and listed false.
func (p presenter) entry(e store.Entry, currency string) (*catalogv1.ProductEntry, error) {
	if !e.Listed {
		return &catalogv1.ProductEntry{Entry: &catalogv1.ProductEntry_Unlisted{
			Unlisted: &catalogv1.UnlistedProduct{Id: e.ID, UpdatedAt: timestamppb.New(e.UpdatedAt)},
		}}, nil
	}
	product, err := p.product(e, currency)
	if err != nil {
		return nil, err
	}
	return &catalogv1.ProductEntry{Entry: &catalogv1.ProductEntry_Product{Product: product}}, nil
}

func (p presenter) product(e store.Entry, currency string) (*catalogv1.Product, error) {
	out := &catalogv1.Product{
		Id: e.ID, Name: e.Text.Name, Description: e.Text.Description,
		Listed: true, Available: e.Available,
		Variations:             variations(e.Variations),
		Categories:             e.Categories,
		Images:                 p.images(e.Images),
		CustomizationAvailable: e.CustomizationAvailable, GiftSet: e.GiftSet, ReadyToSend: e.ReadyToSend,
		UpdatedAt: timestamppb.New(e.UpdatedAt),
	}
	if err := price(out, e, currency); err != nil {
		return nil, fmt.Errorf("estimate of gift %s: %w", e.ID, err)
	}
	return out, nil
}

func (p presenter) images(list []rules.ShownImage) []*catalogv1.Image {
	out := make([]*catalogv1.Image, len(list))
	for i, shown := range list {
		out[i] = &catalogv1.Image{Url: p.imageBase + shown.FileID, Width: shown.Width}
	}
	return out
}

func variations(list []rules.Variation) []*catalogv1.Variation {
	out := make([]*catalogv1.Variation, len(list))
	for i, v := range list {
		out[i] = &catalogv1.Variation{Dimension: v.Dimension, Values: v.Values}
	}
	return out
}

func variationTranslations(list []rules.VariationText) []*catalogv1.VariationTranslation {
	var out []*catalogv1.VariationTranslation
	for _, v := range list {
		out = append(out, &catalogv1.VariationTranslation{Dimension: v.Dimension, Name: v.Name, Values: v.Values})
	}
	return out
}

func imageVariations(byImage map[string]map[string]string) []*catalogv1.ImageVariations {
	var out []*catalogv1.ImageVariations
	for _, id := range slices.Sorted(maps.Keys(byImage)) {
		out = append(out, &catalogv1.ImageVariations{FileId: id, Variations: byImage[id]})
	}
	return out
}

// giftDetails returns nil if there are none.
func giftDetails(d rules.Details) *catalogv1.GiftDetails {
	if d == (rules.Details{}) {
		return nil
	}
	return &catalogv1.GiftDetails{Maker: d.Maker, Material: d.Material, Size: d.Size, Story: d.Story}
}

// price fills in both estimates of a gift, or neither: a gift counts as priced only if its price is known in EUR and in the
// tenant's currency.
func price(out *catalogv1.Product, e store.Entry, currency string) error {
	if e.AmountEUR == nil || currency != rules.EUR && e.Rate == nil {
		return nil
	}
	amount := *e.AmountEUR
	if currency != rules.EUR {
		var err error
		if amount, err = rules.Estimate(amount, *e.Rate, currency); err != nil {
			return err
		}
	}
	out.Priced = true
	out.Estimate = &commonv1.Money{Amount: amount, Currency: currency}
	out.EstimateEur = &commonv1.Money{Amount: *e.AmountEUR, Currency: rules.EUR}
	return nil
}

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
