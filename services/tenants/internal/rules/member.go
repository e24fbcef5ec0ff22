package rules

import (
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// TeamMember checks the member of a request.
func TeamMember(m *tenantsv1.TeamMember, errs *fields.Errors) *tenantsv1.TeamMember {
	if m == nil {
		errs.Add("member", problem.FieldRequired, "is required")
		return m
	}
	errs.Required("member.name", m.GetName(), maxName)
	email := strings.ToLower(m.GetEmail())
	errs.Required("member.email", email, maxEmail)
	errs.Email("member.email", email, maxEmail)
	if !declared(m.GetRole(), tenantsv1.TeamRole_name) {
		errs.Add("member.role", problem.FieldInvalid, "must be a role of the team")
	}
	return &tenantsv1.TeamMember{
		Id:     errs.UUID("member.id", m.GetId()),
		Name:   m.GetName(),
		Email:  email,
		Role:   m.GetRole(),
		Active: m.GetActive(),
	}
}

// declared says whether the enum has the value; zero stands for none.
func declared[E ~int32](e E, names map[int32]string) bool {
	_, ok := names[int32(e)]
	return ok && e != 0
}
