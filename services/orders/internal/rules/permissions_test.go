package rules_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// who lists all kinds of actors.
var who = map[string]struct {
	kind commonv1.ActorKind
	id   string
}{
	"administrator":          {commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, "ada"},
	"coordinator":            {commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, "cora"},
	"member":                 {commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, "mel"},
	"inactive administrator": {commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, "ina"},
	"stranger":               {commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, "sam"},
	"client":                 {commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, "ada"},
	"operator":               {commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, "ada"},
	"system":                 {commonv1.ActorKind_ACTOR_KIND_SYSTEM, ""},
	"nobody":                 {commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED, "ada"},
}

func TestEachOperationIsForItsPeopleOnly(t *testing.T) {
	t.Parallel()
	team := []*tenantsv1.TeamMember{
		{Id: "ada", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
		{Id: "cora", Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true},
		{Id: "mel", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
		{Id: "ina", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR},
	}
	everyMember := []string{"administrator", "coordinator", "member"}
	with := func(more ...string) []string { return append(slices.Clone(everyMember), more...) }
	allowed := map[ordersv1.Operation][]string{
		ordersv1.Operation_OPERATION_UNSPECIFIED:       nil,
		ordersv1.Operation_OPERATION_APPROVE:           {"administrator", "coordinator"},
		ordersv1.Operation_OPERATION_DISPATCH:          {"operator", "system"},
		ordersv1.Operation_OPERATION_DELIVER:           {"operator", "system"},
		ordersv1.Operation_OPERATION_CANCEL:            with("operator"),
		ordersv1.Operation_OPERATION_CORRECT_STATUS:    {"operator"},
		ordersv1.Operation_OPERATION_CORRECT_TRACKING:  {"operator", "system"},
		ordersv1.Operation_OPERATION_CORRECT_DELIVERY:  with("operator"),
		ordersv1.Operation_OPERATION_PLACE:             with("operator"),
		ordersv1.Operation_OPERATION_POST_MESSAGE:      with("client", "operator", "system"),
		ordersv1.Operation_OPERATION_ADD_NOTE:          {"operator", "system"},
		ordersv1.Operation_OPERATION_LIST_CONVERSATION: with("client", "operator"),
		ordersv1.Operation_OPERATION_READ:              with("operator"),
		ordersv1.Operation_OPERATION_SEARCH:            with("operator"),
		ordersv1.Operation_OPERATION_LIST_AUDIT:        {"administrator", "operator"},
		// The tenants service decides.
		ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA:  nil,
		ordersv1.Operation_OPERATION_EXPORT_PERSONAL_DATA: nil,
	}
	for number, name := range ordersv1.Operation_name {
		op := ordersv1.Operation(number)
		require.Contains(t, allowed, op, name)
		for person, a := range who {
			err := rules.PermissionOf(op).Check(&commonv1.Actor{Kind: a.kind, Id: a.id}, team)
			switch {
			case slices.Contains(allowed[op], person):
				require.NoError(t, err, "%s by %s", name, person)
			case slices.Contains([]string{"inactive administrator", "stranger"}, person) && slices.Contains(allowed[op], "administrator"):
				require.True(t, problem.Is(err, problem.NotFound), "%s by %s: %v", name, person, err)
			default:
				require.True(t, problem.Is(err, problem.InsufficientScope), "%s by %s: %v", name, person, err)
			}
		}
	}
}

// found returns violations as "field code".
func found(errs *fields.Errors) (out []string) {
	for _, v := range errs.List() {
		out = append(out, v.Field+" "+v.Code)
	}
	return out
}
