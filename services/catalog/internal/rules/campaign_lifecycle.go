package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// CheckStart reports whether a campaign is to be started. An active one is not. due: its expiry has
// passed.
func CheckStart(status string, due bool) (start bool, err error) {
	switch {
	case status == CampaignActive:
		return false, nil
	case status == CampaignCompleted:
		p := problem.New(problem.NotEditable, "A completed campaign cannot be started.")
		p.CurrentStatus = status
		return false, p
	case due:
		return false, problem.Invalid(problem.Violation{
			Field: "campaignId", Code: problem.FieldInvalid, Message: "names a campaign whose expiry has passed",
		})
	default:
		return true, nil
	}
}

// OfferedIn is an offering that is about to be resumed.
type OfferedIn struct {
	Status string
	// Combinations that are offered.
	Combinations []map[string]string
}

// CheckResume reports whether an offering is to be resumed. An active one is not. The gift must be
// published and come in every offered combination.
func (o OfferedIn) CheckResume(gift Product) (resume bool, err error) {
	if o.Status == OfferingActive {
		return false, nil
	}
	errs := &fields.Errors{}
	if gift.State != Published {
		errs.Add("productId", problem.FieldInvalid, "names a gift that is not published")
	}
	for _, choice := range o.Combinations {
		if !Chosen(gift.Variations, choice) {
			errs.Add("productId", problem.FieldInvalid, "names a gift that no longer comes in every combination offered")
		}
	}
	return true, errs.Err()
}
