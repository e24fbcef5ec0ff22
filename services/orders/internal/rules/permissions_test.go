package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// who names everybody an operation can be asked by.
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
	}
	for number, name := range ordersv1.Operation_name {
		op := ordersv1.Operation(number)
		require.Contains(t, allowed, op, name)
		for person, a := range who {
			err := rules.Permit(op, &commonv1.Actor{Kind: a.kind, Id: a.id}, team)
			if slices.Contains(allowed[op], person) {
				require.NoError(t, err, "%s by %s", name, person)
			} else {
				require.True(t, problem.Is(err, problem.InsufficientScope), "%s by %s: %v", name, person, err)
			}
		}
	}
}

func TestTheActorIsAKnownKindWithAnID(t *testing.T) {
	const operator = commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT
	long := strings.Repeat("a", 129)
	for name, tc := range map[string]struct {
		actor *commonv1.Actor
		want  []string
	}{
		"a person":                 {&commonv1.Actor{Kind: operator, Id: "auth0|7f-3.a_b:c/d", Name: "Bo"}, nil},
		"the platform":             {&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}, nil},
		"nobody":                   {nil, []string{"actor required"}},
		"no kind":                  {&commonv1.Actor{Id: "a"}, []string{"actor.kind required"}},
		"a kind there is not":      {&commonv1.Actor{Kind: 99, Id: "a"}, []string{"actor.kind required"}},
		"no id":                    {&commonv1.Actor{Kind: operator}, []string{"actor.id required"}},
		"an e-mail address for id": {&commonv1.Actor{Kind: operator, Id: "bo@example.com"}, []string{"actor.id invalid"}},
		"a name for id":            {&commonv1.Actor{Kind: operator, Id: "Bo Berg"}, []string{"actor.id invalid"}},
		"a long id":                {&commonv1.Actor{Kind: operator, Id: long}, []string{"actor.id too_long"}},
		"the platform with an id":  {&commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: "a"}, []string{"actor.id invalid"}},
		"a name with NUL":          {&commonv1.Actor{Kind: operator, Id: "a", Name: "\x00"}, []string{"actor.name invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := &fields.Errors{}
			rules.CheckActor(tc.actor, errs)
			require.Equal(t, tc.want, found(errs))
		})
	}
}

// found spells violations as "field code".
func found(errs *fields.Errors) (out []string) {
	for _, v := range errs.List() {
		out = append(out, v.Field+" "+v.Code)
	}
	return out
}
