package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// MaxSelection is how many gifts a selection from the catalog can name.
const MaxSelection = 1000

// ReadSelection demands exactly one kind of selection: a campaign, or gifts of the catalog.
func ReadSelection(in *catalogv1.Selection, errs *fields.Errors) {
	switch {
	case in == nil:
		errs.Add("selection", problem.FieldRequired, "is required")
	case in.CampaignId == nil && len(in.GetProductIds()) == 0:
		errs.Add("selection.productIds", problem.FieldRequired, "must name at least one gift")
	case in.CampaignId != nil && len(in.GetProductIds()) > 0:
		errs.Add("selection.productIds", problem.FieldInvalid, "must be empty beside campaignId")
	}
	atMost("selection.productIds", len(in.GetProductIds()), MaxSelection, errs)
}

// CheckSelectedGifts refuses gifts that links cannot offer, in the order of the API's table of codes: first
// one that is not published, then an unknown one. known has the states of those that exist.
func CheckSelectedGifts(ids []string, known map[string]State) error {
	for i, id := range ids {
		if state, ok := known[id]; ok && state != Published {
			return problem.New(problem.ProductNotAvailable, "The gift of productIds[%d] is not available.", i)
		}
	}
	for i, id := range ids {
		if _, ok := known[id]; !ok {
			return problem.New(problem.ProductNotFound, "productIds[%d] is not in the catalog.", i)
		}
	}
	return nil
}

// CheckSelectedCampaign refuses a campaign that links cannot offer: first one that is unknown or out of the
// caller's reach, then one that is not active. brandID is empty for an unknown campaign.
func CheckSelectedCampaign(brandID, status string, reaches func(brandID string) bool) error {
	switch {
	case brandID == "" || !reaches(brandID):
		return campaignNotFound()
	case status != CampaignActive:
		return campaignNotActive()
	default:
		return nil
	}
}

func campaignNotFound() error {
	return problem.New(problem.CampaignNotFound, "No such campaign is visible to this key.")
}

func campaignNotActive() error {
	return problem.New(problem.CampaignNotActive, "The campaign is in preparation or completed.")
}
