package rules

import (
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/customfields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// MatchCustomFields returns the answers that count, or invalid_custom_fields.
func MatchCustomFields(of []*tenantsv1.CustomField, answers []*ordersv1.CustomFieldAnswer) ([]CustomAnswer, error) {
	matched, refusal := customfields.Match(of, CustomAnswers(answers))
	if refusal == "" {
		return matched, nil
	}
	p := problem.New(problem.InvalidCustomFields, "%s", refusal)
	p.Violations = []problem.Violation{{Field: "customFields", Code: problem.FieldInvalid, Message: refusal}}
	return nil, p
}

// FindManager returns the id of the active team member with the address; nil for a blank address.
func FindManager(team []*tenantsv1.TeamMember, email string) (*string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if email == "" {
		return nil, nil //nolint:nilnil // No manager is asked for.
	}
	for _, member := range team {
		if member.GetActive() && member.GetEmail() == email {
			return new(member.GetId()), nil
		}
	}
	return nil, problem.New(problem.ManagerNotFound, "managerEmail names no active team member.")
}

// HasBrand says whether the tenant has the brand.
func HasBrand(brands []*tenantsv1.Brand, id string) bool {
	return slices.ContainsFunc(brands, func(b *tenantsv1.Brand) bool { return b.GetId() == id })
}
