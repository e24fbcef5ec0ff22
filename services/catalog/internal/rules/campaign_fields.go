package rules

import (
	"time"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
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

// SKU is a combination of the gift's variations that is offered.
type SKU struct {
	Variations map[string]string
	// InitialStock is nil for an offering without finite stock.
	InitialStock *int32
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

// ReadCampaign validates a campaign as far as it stands for itself.
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

// ReadCampaignStatus demands a status.
func ReadCampaignStatus(s catalogv1.CampaignStatus, errs *fields.Errors) string {
	switch s {
	case catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT:
		return CampaignDraft
	case catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE:
		return CampaignActive
	case catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED:
		return CampaignCompleted
	case catalogv1.CampaignStatus_CAMPAIGN_STATUS_UNSPECIFIED:
		errs.Add("status", problem.FieldRequired, "is required")
	default:
		errs.Add("status", problem.FieldInvalid, "is not a known status")
	}
	return ""
}

// ReadOffering validates an offering, whose fields stand under path, as far as it stands for itself.
func ReadOffering(path string, in *catalogv1.OfferingInput, errs *fields.Errors) Offering {
	o := Offering{ProductID: RecordID(path+".productId", in.GetProductId(), errs)}
	switch in.GetSupplyType() {
	case catalogv1.SupplyType_SUPPLY_TYPE_STOCKED:
		o.SupplyType = Stocked
	case catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND:
		o.SupplyType = OnDemand
	case catalogv1.SupplyType_SUPPLY_TYPE_UNSPECIFIED:
		errs.Add(path+".supplyType", problem.FieldRequired, "is required")
	default:
		errs.Add(path+".supplyType", problem.FieldInvalid, "is not a known supply type")
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
			errs.Add(at(list, i, "initialStock"), problem.FieldInvalid, "is for STOCKED offerings only")
		}
		o.SKUs = append(o.SKUs, sku)
	}
	return o
}

// CheckBrand demands that the campaign's brand is one of the tenant's.
func (c Campaign) CheckBrand(settings *tenantsv1.GetTenantSettingsResponse, errs *fields.Errors) {
	for _, b := range settings.GetBrands() {
		if b.GetId() == c.BrandID {
			return
		}
	}
	errs.Add("brandId", problem.FieldInvalid, "names no brand of the tenant")
}

// CheckGifts demands that every offering's gift exists and comes in the offered combinations.
func (c Campaign) CheckGifts(gifts map[string]Product, errs *fields.Errors) {
	for i, o := range c.Offerings {
		o.CheckGift(at("offerings", i, ""), gifts, errs)
	}
}

// CheckGift demands that the offering's gift exists and comes in the offered combinations.
func (o Offering) CheckGift(path string, gifts map[string]Product, errs *fields.Errors) {
	gift, ok := gifts[o.ProductID]
	if !ok {
		errs.Add(path+".productId", problem.FieldInvalid, "names no gift")
		return
	}
	for i, s := range o.SKUs {
		if !Chosen(gift.Variations, s.Variations) {
			errs.Add(at(path+".skus", i, "variations"), problem.FieldInvalid,
				"must have exactly one value of the gift for each of its dimensions")
		}
	}
}

// CheckRoom demands that a campaign with so many other offerings can take one more.
func CheckRoom(others int, errs *fields.Errors) {
	if others >= maxOfferings {
		errs.Add("offering", problem.FieldInvalid, "is one more than a campaign can have")
	}
}
