package rules

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// TeamMember validates a member of the team.
func TeamMember(m *tenantsv1.TeamMember, errs *fields.Errors) *tenantsv1.TeamMember {
	if m == nil {
		errs.Add("member", problem.FieldRequired, "is required")
		return m
	}
	errs.Required("member.name", m.GetName(), maxName)
	email := strings.ToLower(m.GetEmail())
	errs.Required("member.email", email, maxEmail)
	errs.Email("member.email", email, maxEmail)
	if !declared(m.GetRole()) {
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

// declared reports whether the enum has the value. Zero is not a value.
func declared(e protoreflect.Enum) bool {
	_, ok := enumname.Of(e.Descriptor()).Name(e.Number())
	return ok
}
