package rules

import (
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Lengths in Unicode code points (API specification, section Limits).
const (
	maxLabel      = 255
	maxMessage    = 255
	maxEmail      = 255
	maxReference  = 128
	maxTextAnswer = 2000
	maxAnswers    = 500
	// maxFaults of one recipient are told: the answer to a batch is stored.
	maxFaults = 50
)

// DefaultLocale of a link; every tenant has it.
const DefaultLocale = "en-US"

// Recipient is one that has no fault.
type Recipient struct {
	ExternalID *string
	Locale     string
	ManagerID  *string
	Details    Details
}

// Recipients checks the recipients of one batch, in their order.
type Recipients struct {
	settings *tenantsv1.GetTenantSettingsResponse
	managers map[string]string
	// emails of the recipients so far, also of those that were rejected.
	emails map[string]struct{}
}

// NewRecipients starts a batch of the tenant.
func NewRecipients(settings *tenantsv1.GetTenantSettingsResponse) *Recipients {
	r := &Recipients{settings: settings, managers: map[string]string{}, emails: map[string]struct{}{}}
	for _, member := range settings.GetTeam() {
		if member.GetActive() {
			r.managers[strings.ToLower(member.GetEmail())] = member.GetId()
		}
	}
	return r
}

// Check gives the recipient, or its faults.
func (r *Recipients) Check(in *linksv1.PersonalLinkRecipient) (Recipient, []problem.Violation) {
	errs := &fields.Errors{}
	errs.Required("label", in.GetLabel(), maxLabel)
	errs.MaxLen("externalRecipientId", in.GetExternalRecipientId(), maxReference)
	errs.MaxLen("message", in.GetMessage(), maxMessage)
	out := Recipient{
		ExternalID: NonBlank(in.GetExternalRecipientId()),
		Locale:     r.locale(in.GetLocale(), errs),
		ManagerID:  r.manager(in.GetManagerEmail(), errs),
		Details:    Details{Label: in.GetLabel(), Email: r.email(in.GetEmail(), errs)},
	}
	if !fields.Blank(in.GetMessage()) {
		out.Details.Message = in.GetMessage()
	}
	out.Details.Answers = checkAnswers(r.settings.GetTenant().GetCustomFields(), in.GetCustomFields(), errs)
	faults := errs.List()
	return out, faults[:min(len(faults), maxFaults)]
}

func (r *Recipients) email(text string, errs *fields.Errors) string {
	if fields.Blank(text) {
		return ""
	}
	errs.Email("email", text, maxEmail)
	key := strings.ToLower(strings.TrimSpace(text))
	if _, taken := r.emails[key]; taken {
		errs.Add("email", problem.FieldDuplicate, "stands earlier in the batch")
	}
	r.emails[key] = struct{}{}
	return text
}

func (r *Recipients) locale(text string, errs *fields.Errors) string {
	if fields.Blank(text) {
		return DefaultLocale
	}
	if text != DefaultLocale && !slices.Contains(r.settings.GetTenant().GetLocales(), text) {
		errs.Add("locale", problem.FieldNotEnabled, "is not enabled for the tenant")
	}
	return text
}

func (r *Recipients) manager(email string, errs *fields.Errors) *string {
	if fields.Blank(email) {
		return nil
	}
	id, ok := r.managers[strings.ToLower(strings.TrimSpace(email))]
	if !ok {
		errs.Add("managerEmail", problem.FieldManagerNotFound, "names no active team member")
		return nil
	}
	return &id
}

// NonBlank gives nil for a blank text: an optional member that is unset.
func NonBlank(s string) *string {
	if fields.Blank(s) {
		return nil
	}
	return &s
}
