package rules

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// CheckCountry demands a country.
func CheckCountry(value string, errs *fields.Errors) {
	switch {
	case fields.Blank(value):
		errs.Add("country", problem.FieldRequired, "is required")
	case !country.Valid(value):
		errs.Add("country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
	}
}

// ReadLocale returns the requested locale, which must be one of the tenant's. The default is en-US.
func ReadLocale(value string, supported []string, errs *fields.Errors) string {
	if fields.Blank(value) {
		return BaseLocale
	}
	if value != BaseLocale && !slices.Contains(supported, value) {
		errs.Add("locale", problem.FieldNotEnabled, "must be one of the supported locales: "+strings.Join(supported, ", "))
	}
	return value
}

// ReadSince returns the instant in whole microseconds, or nil.
func ReadSince(value *timestamppb.Timestamp, errs *fields.Errors) *time.Time {
	if value == nil {
		return nil
	}
	if value.CheckValid() != nil {
		errs.Add("updatedSince", problem.FieldInvalid, "must be an instant between the years 1 and 9999")
	}
	since := value.AsTime().Truncate(time.Microsecond)
	return &since
}

// Actor is who acts, as the audit keeps it: without a name.
type Actor struct {
	Kind string
	ID   string
}

// ReadActor demands the acting person of an operation.
func ReadActor(a *commonv1.Actor, errs *fields.Errors) Actor {
	actor.Check(a, errs)
	return Actor{Kind: actor.Kind(a), ID: a.GetId()}
}

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
