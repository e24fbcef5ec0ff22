package rules

import (
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Sandbox is the actor in the audit of what API keys do in the sandbox.
func Sandbox() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: "Sandbox"}
}

// ReadSandboxStock validates the SKU and its stock.
func ReadSandboxStock(req *catalogv1.SetSandboxStockRequest, errs *fields.Errors) (skuID string, stock int32) {
	skuID = errs.RequiredUUID("skuId", req.GetSkuId())
	if req.StockRemaining == nil {
		errs.Add("stockRemaining", problem.FieldRequired, "is required")
	}
	stockField("stockRemaining", req.GetStockRemaining(), errs)
	return skuID, req.GetStockRemaining()
}

// Override is how a tenant of the sandbox has changed a gift for itself.
type Override struct {
	Unlisted bool
	// Countries that differ from those of the gift.
	Added, Removed []string
}

// Unlist takes the gift out of the tenant's catalog.
func (o *Override) Unlist() (changed bool, err error) {
	changed, o.Unlisted = !o.Unlisted, true
	return changed, nil
}

// Relist undoes Unlist.
func (o *Override) Relist() (changed bool, err error) {
	changed, o.Unlisted = o.Unlisted, false
	return changed, nil
}

// SetAvailable sets whether a gift with the countries ofGift can be sent to the country. An unlisted gift is not found.
func (o *Override) SetAvailable(ofGift []string, country string, available bool) (changed bool, err error) {
	if o.Unlisted {
		return false, problem.RecordNotFound()
	}
	if slices.Contains(o.Countries(ofGift), country) == available {
		return false, nil
	}
	without := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(c string) bool { return c == country })
	}
	o.Added, o.Removed = without(o.Added), without(o.Removed)
	switch forAll := slices.Contains(ofGift, country); {
	case available && !forAll:
		o.Added = append(o.Added, country)
	case !available && forAll:
		o.Removed = append(o.Removed, country)
	}
	return true, nil
}

// Countries returns the countries ofGift as the tenant has changed them, in alphabetical order.
func (o *Override) Countries(ofGift []string) []string {
	all := slices.Sorted(slices.Values(append(slices.Clone(ofGift), o.Added...)))
	return slices.DeleteFunc(slices.Compact(all), func(c string) bool { return slices.Contains(o.Removed, c) })
}
