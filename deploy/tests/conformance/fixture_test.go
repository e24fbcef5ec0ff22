package conformance_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// fixture is a tenant with two brands, a team, an order field of each type and a key that may do everything.
type fixture struct {
	*platform

	tenant, brand, other string
	// text, box and choice are order fields.
	text, box, choice string
	// product is a gift without variations for Sweden and Ireland.
	product string
	key     string
	// administrator, coordinator and member are active in the team; formerMember is not.
	administrator, coordinator, member *commonv1.Actor
}

const (
	tenantName   = "Conformance"
	managerEmail = "cora@conformance.example"
	formerMember = "lea@conformance.example"
)

// operator is a person of the back office.
var operator = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}

// settings changes the settings of a tenant.
type settings = func(tenant *tenantsv1.PutTenantRequest)

func approving(tenant *tenantsv1.PutTenantRequest)     { tenant.ApprovalRequired = true }
func withoutAccess(tenant *tenantsv1.PutTenantRequest) { tenant.ApiAccess = false }

func newFixture(t *testing.T, p *platform, changes ...settings) *fixture {
	t.Helper()
	f := &fixture{
		platform: p, tenant: uuid.NewString(), brand: uuid.NewString(), other: uuid.NewString(),
		text: uuid.NewString(), box: uuid.NewString(), choice: uuid.NewString(),
	}
	f.putTenant(t, changes...)
	f.putBrand(t, &tenantsv1.Brand{Id: f.brand, Name: "North", Slug: "north", PrimaryColour: proto.String("#1B4B8F")})
	f.putBrand(t, &tenantsv1.Brand{Id: f.other, Name: "South", Slug: "south"})
	f.administrator = f.addMember(t, "Ada", "ada@conformance.example", tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true)
	f.coordinator = f.addMember(t, "Cora", managerEmail, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true)
	f.member = f.addMember(t, "Mia", "mia@conformance.example", tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true)
	f.addMember(t, "Lea", formerMember, tenantsv1.TeamRole_TEAM_ROLE_MEMBER, false)
	f.putField(t, 0, &tenantsv1.CustomField{Id: f.text, Label: "Note", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT})
	f.putField(t, 1, &tenantsv1.CustomField{Id: f.box, Label: "Card", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX})
	f.putField(t, 2, &tenantsv1.CustomField{
		Id: f.choice, Label: "Occasion", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN,
		Options: []string{"Birthday", "Jackpot"},
	})
	f.product = f.putGift(t).GetId()
	f.key = f.newKey(t)
	return f
}

func (f *fixture) putTenant(t *testing.T, changes ...settings) {
	t.Helper()
	tenant := &tenantsv1.PutTenantRequest{
		Actor: operator, Id: f.tenant, Name: tenantName, Locales: []string{"sv-SE", "de-DE"}, Currency: "SEK", ApiAccess: true,
	}
	for _, change := range changes {
		change(tenant)
	}
	_, err := f.Tenants(t).PutTenant(t.Context(), tenant)
	require.NoError(t, err)
}

func (f *fixture) putBrand(t *testing.T, brand *tenantsv1.Brand) {
	t.Helper()
	_, err := f.Tenants(t).PutBrand(t.Context(), &tenantsv1.PutBrandRequest{Actor: operator, TenantId: f.tenant, Brand: brand})
	require.NoError(t, err)
}

func (f *fixture) putField(t *testing.T, position int32, field *tenantsv1.CustomField) {
	t.Helper()
	_, err := f.Tenants(t).PutCustomField(t.Context(), &tenantsv1.PutCustomFieldRequest{
		Actor: operator, TenantId: f.tenant, Position: position, Field: field,
	})
	require.NoError(t, err)
}

// requireField adds an order field that every order must answer and returns its id.
func (f *fixture) requireField(t *testing.T) string {
	t.Helper()
	field := &tenantsv1.CustomField{
		Id: uuid.NewString(), Label: "Cost centre", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT, Required: true,
	}
	f.putField(t, 3, field)
	return field.GetId()
}

func (f *fixture) addMember(t *testing.T, name, email string, role tenantsv1.TeamRole, active bool) *commonv1.Actor {
	t.Helper()
	member := &tenantsv1.TeamMember{Id: uuid.NewString(), Name: name, Email: email, Role: role, Active: active}
	_, err := f.Tenants(t).PutTeamMember(t.Context(),
		&tenantsv1.PutTeamMemberRequest{Actor: operator, TenantId: f.tenant, Member: member})
	require.NoError(t, err)
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: member.GetId(), Name: name}
}

// makeKey makes a key of the tenant with all scopes and brands, after the changes.
func (f *fixture) makeKey(t *testing.T, changes ...func(key *tenantsv1.CreateKeyRequest)) *tenantsv1.CreateKeyResponse {
	t.Helper()
	request := &tenantsv1.CreateKeyRequest{
		Actor: operator, TenantId: f.tenant, Name: "Conformance key", Scopes: harness.AllScopes(), AllBrands: true,
	}
	for _, change := range changes {
		change(request)
	}
	return f.CreateKey(t, request)
}

func (f *fixture) newKey(t *testing.T, changes ...func(key *tenantsv1.CreateKeyRequest)) string {
	t.Helper()
	return f.makeKey(t, changes...).GetApiKey()
}

func ofBrand(brand string) func(*tenantsv1.CreateKeyRequest) {
	return func(key *tenantsv1.CreateKeyRequest) { key.AllBrands, key.BrandIds = false, []string{brand} }
}

func ofScope(scope commonv1.Scope) func(*tenantsv1.CreateKeyRequest) {
	return func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{scope} }
}

// postCall is a POST with the fixture's key, to be changed before it is sent.
func (f *fixture) postCall(path, body string) call {
	return call{Method: http.MethodPost, Path: path, Key: f.key, Body: body}
}

// putGift publishes a gift for Sweden and Ireland, in the sizes if there are any.
func (f *fixture) putGift(t *testing.T, sizes ...string) *catalogv1.PutProductRequest {
	t.Helper()
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: published, Name: "Umbrella", AvailableCountries: []string{"SE", "IE"},
	}
	if len(sizes) > 0 {
		gift.Variations = []*catalogv1.Variation{{Dimension: "Size", Values: sizes}}
	}
	f.putProduct(t, gift)
	return gift
}

// putInState puts the gift again in another state.
func (f *fixture) putInState(t *testing.T, gift *catalogv1.PutProductRequest, state catalogv1.ProductState) {
	t.Helper()
	gift.State = state
	f.putProduct(t, gift)
}

func (f *fixture) putProduct(t *testing.T, gift *catalogv1.PutProductRequest) {
	t.Helper()
	_, err := f.Catalog(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
}

func (f *fixture) putCampaign(t *testing.T, campaign *catalogv1.PutCampaignRequest) {
	t.Helper()
	_, err := f.Catalog(t).PutCampaign(t.Context(), campaign)
	require.NoError(t, err)
}

func testChanges(t *testing.T, p *platform) {
	address := p.Env["GIFTING_URL"] + "/docs/changelog"
	page := harness.Visit(t, address)
	requirement(t, "CHG-1", func(t *testing.T) {
		require.Equal(t, http.StatusOK, page.Status)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		require.Contains(t, page.Body, `<h2 id="first-version">`)
	})
	requirement(t, "CHG-2", func(t *testing.T) {
		feed := harness.Visit(t, address+".atom")
		require.Equal(t, http.StatusOK, feed.Status)
		require.Equal(t, "application/atom+xml; charset=utf-8", feed.Header.Get("Content-Type"))
		var atom struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			Entries []struct {
				ID      string `xml:"id"`
				Title   string `xml:"title"`
				Updated string `xml:"updated"`
			} `xml:"entry"`
		}
		require.NoError(t, xml.Unmarshal([]byte(feed.Body), &atom))
		require.Len(t, atom.Entries, strings.Count(page.Body, `<h2 id="`))
		for _, entry := range atom.Entries {
			_, anchor, _ := strings.Cut(entry.ID, "/docs/changelog#")
			require.Contains(t, page.Body, `<h2 id="`+anchor+`">`+entry.Title+`</h2>`)
			_, err := time.Parse(time.RFC3339, entry.Updated)
			require.NoError(t, err)
		}
	})
}
