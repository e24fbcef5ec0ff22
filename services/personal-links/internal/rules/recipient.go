package rules

import (
	"slices"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/sandboxpace"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Lengths in Unicode code points.
var (
	maxLabel   = fields.MaxLength(&linksv1.PersonalLinkRecipient{}, "label")
	maxEmail   = fields.MaxLength(&linksv1.PersonalLinkRecipient{}, "email")
	maxMessage = fields.MaxLength(&linksv1.PersonalLinkRecipient{}, "message")
)

// maxErrors is how many errors of one recipient are reported. It bounds the response, which is stored.
const maxErrors = 50

// DefaultLocale of a link. Every tenant has it.
const DefaultLocale = "en-US"

// recordTexts are the optional texts that a link copies from its recipient unchanged.
var recordTexts = []struct {
	name string
	// ofPerson means that the text says something about a person, so an erasure removes it.
	ofPerson bool
	read     func(*linksv1.PersonalLinkRecipient) string
	target   func(*linksv1.PersonalLink) **string
}{
	{
		"externalRecipientId", true, (*linksv1.PersonalLinkRecipient).GetExternalRecipientId,
		func(l *linksv1.PersonalLink) **string { return &l.ExternalRecipientId },
	},
}

// Recipient is a recipient without errors.
type Recipient struct {
	// Sent is the recipient in the request.
	Sent      *linksv1.PersonalLinkRecipient
	Locale    string
	ManagerID *string
	Details   Details
	// Auto is the directive in the recipient's id.
	Auto *sandboxpace.Directive
}

// RecipientChecker checks the recipients of one batch, in their order.
type RecipientChecker struct {
	settings *tenantsv1.GetTenantSettingsResponse
	managers map[string]string
	// emails of the recipients so far, including rejected ones.
	emails map[string]struct{}
	// sandbox means that the id of a recipient may have a directive.
	sandbox bool
}

// NewRecipientChecker makes the checker of a batch of the tenant.
func NewRecipientChecker(settings *tenantsv1.GetTenantSettingsResponse) *RecipientChecker {
	r := &RecipientChecker{settings: settings, managers: map[string]string{}, emails: map[string]struct{}{}}
	for _, member := range settings.GetTeam() {
		if member.GetActive() {
			r.managers[member.GetEmail()] = member.GetId()
		}
	}
	return r
}

// Check returns the recipient, or its errors.
func (r *RecipientChecker) Check(in *linksv1.PersonalLinkRecipient) (Recipient, []problem.Violation) {
	errs := &fields.Errors{}
	errs.Required("label", in.GetLabel(), maxLabel)
	for _, text := range recordTexts {
		errs.Line(text.name, text.read(in), fields.MaxLength(in, text.name))
	}
	errs.Text("message", in.GetMessage(), maxMessage)
	out := Recipient{
		Sent:      in,
		Locale:    Locale(in.GetLocale(), r.settings.GetTenant(), errs),
		ManagerID: r.manager(in.GetManagerEmail(), errs),
		Details: Details{
			Label: in.GetLabel(), Message: fields.UnlessBlank(in.GetMessage()), Email: r.email(in.GetEmail(), errs),
		},
		Auto: r.auto(in.GetExternalRecipientId(), errs),
	}
	out.Details.Answers = r.answers(in.GetCustomFields(), errs)
	found := errs.List()
	return out, found[:min(len(found), maxErrors)]
}

func directiveOf(recipientID string) (*sandboxpace.Directive, error) {
	return sandboxpace.Parse(recipientID, enumname.String(Active), enumname.String(Claimed))
}

// Auto reports whether the link of a result is claimed by itself in the sandbox.
func Auto(result *linksv1.PersonalLinkResult) bool {
	directive, _ := directiveOf(result.GetLink().GetExternalRecipientId())
	return directive != nil
}

// auto reads the directive of a recipient. It may say that the link stops before or after the claim.
func (r *RecipientChecker) auto(id string, errs *fields.Errors) *sandboxpace.Directive {
	if !r.sandbox {
		return nil
	}
	directive, err := directiveOf(id)
	if err != nil {
		errs.Add("externalRecipientId", problem.FieldInvalid, err.Error())
	}
	return directive
}

func (r *RecipientChecker) answers(in []*linksv1.PersonalLinkAnswer, errs *fields.Errors) []fields.CustomFieldAnswer {
	var answers []fields.CustomFieldAnswer
	for _, a := range in {
		answers = append(answers, fields.CustomFieldAnswer{FieldID: a.GetFieldId(), Text: a.TextValue, Checked: a.Checked})
	}
	defined := r.settings.GetTenant().GetCustomFields()
	fields.CheckCustomFieldIDs(defined, answers, errs)
	matched, refusal := fields.MatchCustomFields(defined, answers)
	if refusal != "" {
		errs.Add("customFields", problem.FieldInvalid, refusal)
	}
	return matched
}

func (r *RecipientChecker) email(text string, errs *fields.Errors) string {
	if fields.Blank(text) {
		return ""
	}
	errs.Email("email", text, maxEmail)
	key := fields.EmailKey(text)
	if _, taken := r.emails[key]; taken {
		errs.Add("email", problem.FieldDuplicate, "is the address of an earlier recipient of the batch")
	}
	r.emails[key] = struct{}{}
	return text
}

// Locale of a link: one that the tenant has enabled, or the default.
func Locale(text string, tenant *tenantsv1.Tenant, errs *fields.Errors) string {
	if fields.Blank(text) {
		return DefaultLocale
	}
	if text != DefaultLocale && !slices.Contains(tenant.GetLocales(), text) {
		errs.Add("locale", problem.FieldNotEnabled, "is not enabled for the tenant")
	}
	return text
}

func (r *RecipientChecker) manager(email string, errs *fields.Errors) *string {
	if fields.Blank(email) {
		return nil
	}
	id, ok := r.managers[fields.EmailKey(email)]
	if !ok {
		errs.Add("managerEmail", problem.FieldManagerNotFound, "names no active team member")
		return nil
	}
	return &id
}
