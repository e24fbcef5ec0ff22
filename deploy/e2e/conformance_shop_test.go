package e2e_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// shop is a tenant of its own with two brands, a team, an order field of each type and a key that may do everything: what
// a section of the promises does shows to no other.
type shop struct {
	*platform

	tenant, brand, other string
	// text, box and choice are order fields.
	text, box, choice string
	key               string
	// administrator, coordinator and member are active in the team; shopLeaver is not.
	administrator, coordinator, member *commonv1.Actor
}

const (
	shopName    = "Conformance"
	shopManager = "cora@conformance.example"
	shopLeaver  = "lea@conformance.example"
)

func (p *platform) newShop(t *testing.T, approves bool) *shop {
	t.Helper()
	s := &shop{
		platform: p, tenant: uuid.NewString(), brand: uuid.NewString(), other: uuid.NewString(),
		text: uuid.NewString(), box: uuid.NewString(), choice: uuid.NewString(),
	}
	s.putTenant(t, func(settings *tenantsv1.PutTenantRequest) { settings.ApprovalRequired = approves })
	s.putBrand(t, &tenantsv1.Brand{Id: s.brand, Name: "North", Slug: "north", PrimaryColour: proto.String("#1B4B8F")})
	s.putBrand(t, &tenantsv1.Brand{Id: s.other, Name: "South", Slug: "south"})
	s.administrator = s.hire(t, "Ada", "ada@conformance.example", tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true)
	s.coordinator = s.hire(t, "Cora", shopManager, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true)
	s.member = s.hire(t, "Mia", "mia@conformance.example", tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true)
	s.hire(t, "Lea", shopLeaver, tenantsv1.TeamRole_TEAM_ROLE_MEMBER, false)
	s.putField(t, 0, &tenantsv1.CustomField{Id: s.text, Label: "Note", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT})
	s.putField(t, 1, &tenantsv1.CustomField{Id: s.box, Label: "Card", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX})
	s.putField(t, 2, &tenantsv1.CustomField{
		Id: s.choice, Label: "Occasion", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Options: []string{"Birthday", "Jackpot"},
	})
	s.key = s.makeKey(t, nil).GetApiKey()
	return s
}

// putTenant puts the settings again, with what change makes of them.
func (s *shop) putTenant(t *testing.T, change func(settings *tenantsv1.PutTenantRequest)) {
	t.Helper()
	settings := &tenantsv1.PutTenantRequest{
		Id: s.tenant, Name: shopName, Locales: []string{"sv-SE", "de-DE"}, Currency: "SEK", ApiAccess: true,
	}
	change(settings)
	_, err := s.operations(t).PutTenant(t.Context(), settings)
	require.NoError(t, err)
}

func (s *shop) putBrand(t *testing.T, brand *tenantsv1.Brand) {
	t.Helper()
	_, err := s.operations(t).PutBrand(t.Context(), &tenantsv1.PutBrandRequest{TenantId: s.tenant, Brand: brand})
	require.NoError(t, err)
}

func (s *shop) putField(t *testing.T, position int32, field *tenantsv1.CustomField) {
	t.Helper()
	_, err := s.operations(t).PutCustomField(t.Context(), &tenantsv1.PutCustomFieldRequest{
		TenantId: s.tenant, Position: position, Field: field,
	})
	require.NoError(t, err)
}

func (s *shop) hire(t *testing.T, name, email string, role tenantsv1.TeamRole, active bool) *commonv1.Actor {
	t.Helper()
	member := &tenantsv1.TeamMember{Id: uuid.NewString(), Name: name, Email: email, Role: role, Active: active}
	_, err := s.operations(t).PutTeamMember(t.Context(), &tenantsv1.PutTeamMemberRequest{TenantId: s.tenant, Member: member})
	require.NoError(t, err)
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: member.GetId(), Name: name}
}

// makeKey makes one more key of the tenant: all scopes and brands, unless change says otherwise.
func (s *shop) makeKey(t *testing.T, change func(key *tenantsv1.CreateKeyRequest)) *tenantsv1.CreateKeyResponse {
	t.Helper()
	request := &tenantsv1.CreateKeyRequest{TenantId: s.tenant, Name: "Conformance key", Scopes: allScopes, AllBrands: true}
	if change != nil {
		change(request)
	}
	return s.createKey(t, request)
}

// keyOf is a key limited to the brand.
func (s *shop) keyOf(t *testing.T, brand string) string {
	t.Helper()
	return s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.AllBrands, key.BrandIds = false, []string{brand} }).GetApiKey()
}
