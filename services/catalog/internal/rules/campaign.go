package rules

import (
	"time"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Campaign of a tenant's brand.
type Campaign struct {
	TenantID  string
	ID        string
	BrandID   string
	Name      string
	Status    string
	ExpiresAt *time.Time
	Offerings []Offering
}

// Offering is a gift in a campaign.
type Offering struct {
	ProductID  string
	SupplyType string
	SKUs       []SKU
}

// SKU is a combination of the gift's variations that is offered. The audit has it as JSON.
type SKU struct {
	Variations map[string]string `json:"variations"`
	// InitialStock is nil for an offering without finite stock.
	InitialStock *int32 `json:"initialStock,omitempty"`
}

// The statuses of a campaign and of an offering, and the supply types.
const (
	CampaignDraft     = "DRAFT"
	CampaignActive    = "ACTIVE"
	CampaignCompleted = "COMPLETED"

	OfferingActive      = "ACTIVE"
	OfferingNeedsReview = "NEEDS_REVIEW"

	Stocked  = "STOCKED"
	OnDemand = "ON_DEMAND"
)

const (
	maxOfferings = 1000
	maxSKUs      = 500
)

// ReadCampaign validates a campaign without its gifts, which CheckGifts checks.
func ReadCampaign(req *catalogv1.PutCampaignRequest, errs *fields.Errors) Campaign {
	c := Campaign{
		TenantID: RecordID("tenantId", req.GetTenantId(), errs),
		ID:       RecordID("id", req.GetId(), errs),
		BrandID:  RecordID("brandId", req.GetBrandId(), errs),
		Name:     req.GetName(),
		Status:   ReadCampaignStatus(req.GetStatus(), errs),
	}
	errs.Required("name", req.GetName(), maxName)
	if req.GetExpiresAt() != nil {
		if req.GetExpiresAt().CheckValid() != nil {
			errs.Add("expiresAt", problem.FieldInvalid, "must be an instant between the years 1 and 9999")
		}
		at := req.GetExpiresAt().AsTime().Truncate(time.Microsecond)
		c.ExpiresAt = &at
	}
	atMost("offerings", len(req.GetOfferings()), maxOfferings, errs)
	products := once{}
	for i, o := range req.GetOfferings() {
		offering := ReadOffering(at("offerings", i, ""), o, errs)
		products.check(at("offerings", i, "productId"), offering.ProductID, errs)
		c.Offerings = append(c.Offerings, offering)
	}
	return c
}

// ReadCampaignStatus validates a status.
func ReadCampaignStatus(s catalogv1.CampaignStatus, errs *fields.Errors) string {
	return enum("status", "status", s, errs)
}

// ReadOffering validates an offering at a path without its gift, which CheckGifts or CheckPut checks.
func ReadOffering(path string, in *catalogv1.OfferingInput, errs *fields.Errors) Offering {
	o := Offering{
		ProductID:  RecordID(path+".productId", in.GetProductId(), errs),
		SupplyType: enum(path+".supplyType", "supply type", in.GetSupplyType(), errs),
	}
	list := path + ".skus"
	if len(in.GetSkus()) == 0 {
		errs.Add(list, problem.FieldRequired, "must have at least one entry")
	}
	atMost(list, len(in.GetSkus()), maxSKUs, errs)
	combinations := once{}
	for i, s := range in.GetSkus() {
		combinations.check(at(list, i, "variations"), string(VariationsKey(s.GetVariations())), errs)
		sku := SKU{Variations: s.GetVariations()}
		if o.SupplyType == Stocked {
			stock := s.GetInitialStock()
			sku.InitialStock = &stock
		}
		switch {
		case s.GetInitialStock() < 0 || s.GetInitialStock() > MaxStock:
			errs.Add(at(list, i, "initialStock"), problem.FieldInvalid, "must be between 0 and 1000000000")
		case s.InitialStock != nil && o.SupplyType == OnDemand:
			errs.Add(at(list, i, "initialStock"), problem.FieldInvalid, "is allowed only for STOCKED offerings")
		}
		o.SKUs = append(o.SKUs, sku)
	}
	return o
}

// CheckGifts checks that every offering's gift exists and has the offered combinations.
func (c Campaign) CheckGifts(gifts map[string]Product) error {
	errs := &fields.Errors{}
	for i, o := range c.Offerings {
		o.checkGift(at("offerings", i, ""), gifts, errs)
	}
	return errs.Err()
}

// CheckPut checks that a campaign with the given number of other offerings can take this one, and that its gift exists and has
// the offered combinations.
func (o Offering) CheckPut(gifts map[string]Product, others int) error {
	errs := &fields.Errors{}
	if others >= maxOfferings {
		errs.Add("offering", problem.FieldInvalid, "is one more than a campaign can have")
	}
	o.checkGift("offering", gifts, errs)
	return errs.Err()
}

func (o Offering) checkGift(path string, gifts map[string]Product, errs *fields.Errors) {
	gift, ok := gifts[o.ProductID]
	if !ok {
		errs.Add(path+".productId", problem.FieldInvalid, "names no gift")
		return
	}
	for i, s := range o.SKUs {
		if !IsExactChoice(gift.Variations, s.Variations) {
			errs.Add(at(path+".skus", i, "variations"), problem.FieldInvalid,
				"must have exactly one value of the gift for each of its dimensions")
		}
	}
}

// CheckStart reports whether a campaign must be started; an active one need not be.
func CheckStart(status string) (start bool, err error) {
	switch status {
	case CampaignActive:
		return false, nil
	case CampaignCompleted:
		p := problem.New(problem.NotEditable, "A completed campaign cannot be started.")
		p.CurrentStatus = status
		return false, p
	default:
		return true, nil
	}
}

// OfferingToResume is an offering that is about to be resumed.
type OfferingToResume struct {
	Status string
	// Combinations that are offered.
	Combinations []map[string]string
}

// CheckResume reports whether an offering must be resumed; an active one need not be. The gift must be published and have every
// offered combination.
func (o OfferingToResume) CheckResume(gift Product) (resume bool, err error) {
	if o.Status == OfferingActive {
		return false, nil
	}
	errs := &fields.Errors{}
	if gift.State != Published {
		errs.Add("productId", problem.FieldInvalid, "names a gift that is not published")
	}
	for _, choice := range o.Combinations {
		if !IsExactChoice(gift.Variations, choice) {
			errs.Add("productId", problem.FieldInvalid, "names a gift that no longer has every offered combination")
		}
	}
	return true, errs.Err()
}

const maxGreetings = 100

// ReadGreetings validates the greetings of a campaign and returns them by locale, with plain line breaks.
func ReadGreetings(list []*catalogv1.CampaignGreeting, errs *fields.Errors) map[string]string {
	const field = "greetings"
	atMost(field, len(list), maxGreetings, errs)
	greetings, locales := map[string]string{}, once{}
	for i, g := range list {
		path := at(field, i, "locale")
		canonicalLocale(path, g.GetLocale(), errs)
		locales.check(path, g.GetLocale(), errs)
		greetings[g.GetLocale()] = fields.CheckGreeting(at(field, i, "text"), g.GetText(), errs)
	}
	return greetings
}
