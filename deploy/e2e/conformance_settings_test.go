package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// me gives the two records of GET /me.
func (s *shop) me(t *testing.T, key string) (tenant, own map[string]any) {
	t.Helper()
	a := s.get(t, key, "/me")
	require.Equal(t, http.StatusOK, a.status, a.body)
	record := a.object(t)
	tenant, _ = record["tenant"].(map[string]any)
	own, _ = record["key"].(map[string]any)
	return tenant, own
}

func (p *platform) promisesOfTenants(t *testing.T) {
	s := p.newShop(t, false)
	tenant, _ := s.me(t, s.key)
	for promise, member := range map[string]struct {
		name string
		want any
	}{
		"the tenant has its id":                                    {"id", s.tenant},
		"the tenant has its name":                                  {"name", shopName},
		"the locales are en-US and those enabled for the tenant":   {"locales", []any{"en-US", "sv-SE", "de-DE"}},
		"the currency is that of estimates and of budgets":         {"currency", "SEK"},
		"approvalRequired says whether orders and links wait":      {"approvalRequired", false},
		"an order field has id, label, type, required and options": {"customFields", s.fieldRecords()},
	} {
		t.Run(promise, func(t *testing.T) { require.Equal(t, member.want, tenant[member.name]) })
	}
	t.Run("the types of order fields are TEXT, CHECKBOX and DROPDOWN", func(t *testing.T) {
		for i, want := range []string{"TEXT", "CHECKBOX", "DROPDOWN"} {
			require.Equal(t, want, tenant["customFields"].([]any)[i].(map[string]any)["type"])
		}
	})
	t.Run("the tenant's order fields stand in display order", func(t *testing.T) {
		first := &tenantsv1.CustomField{Id: uuid.NewString(), Label: "First", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}
		s.putField(t, -1, first)
		after, _ := s.me(t, s.key)
		require.Equal(t, first.GetId(), after["customFields"].([]any)[0].(map[string]any)["id"])
	})
}

func (s *shop) fieldRecords() []any {
	record := func(id, label, kind string, options ...any) any {
		return map[string]any{"id": id, "label": label, "type": kind, "required": false, "options": append([]any{}, options...)}
	}
	return []any{record(s.text, "Note", "TEXT"), record(s.box, "Card", "CHECKBOX"), record(s.choice, "Occasion", "DROPDOWN", "Birthday", "Jackpot")}
}

func (p *platform) promisesOfKeys(t *testing.T) {
	s := p.newShop(t, false)
	made := s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) {
		key.Name, key.Scopes = "Narrow", []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}
		key.AllBrands, key.BrandIds = false, []string{s.other}
	})
	_, narrow := s.me(t, made.GetApiKey())
	_, wide := s.me(t, s.key)
	t.Run("the key has its number", func(t *testing.T) { require.InDelta(t, made.GetKey().GetId(), narrow["id"], 0) })
	t.Run("the key has its name", func(t *testing.T) { require.Equal(t, "Narrow", narrow["name"]) })
	t.Run("the prefix is the beginning of the key", func(t *testing.T) {
		prefix, _ := narrow["prefix"].(string)
		require.NotEmpty(t, prefix)
		require.True(t, strings.HasPrefix(made.GetApiKey(), prefix))
		require.Less(t, len(prefix), len(made.GetApiKey())/2, "it does not give the key away")
	})
	t.Run("the scopes are those the key was given", func(t *testing.T) {
		require.Equal(t, []any{"ORDERS"}, narrow["scopes"])
		require.ElementsMatch(t, []any{"CATALOG", "ORDERS", "PERSONAL_LINKS"}, wide["scopes"])
	})
	t.Run("brandIds is null for a key of every brand, later ones included", func(t *testing.T) {
		require.Contains(t, wide, "brandIds")
		require.Nil(t, wide["brandIds"])
		later := &tenantsv1.Brand{Id: uuid.NewString(), Name: "Later", Slug: "later"}
		s.putBrand(t, later)
		s.place(t, with("brandId", later.GetId()))
	})
	t.Run("brandIds lists the brands of a limited key", func(t *testing.T) { require.Equal(t, []any{s.other}, narrow["brandIds"]) })
	t.Run("webhookUrl is where its events are sent, and null where none is set", func(t *testing.T) {
		require.Contains(t, narrow, "webhookUrl")
		require.Nil(t, narrow["webhookUrl"])
		address := p.receiver(t) + "/me"
		_, err := s.operations(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: made.GetKey().GetId(), Url: &address})
		require.NoError(t, err)
		_, own := s.me(t, made.GetApiKey())
		require.Equal(t, address, own["webhookUrl"])
	})
	t.Run("the signing secret is never returned", func(t *testing.T) {
		require.NotEmpty(t, made.GetWebhookSecret())
		require.NotContains(t, s.get(t, made.GetApiKey(), "/me").body, made.GetWebhookSecret())
	})
	t.Run("environment is production or sandbox", func(t *testing.T) {
		require.Contains(t, []any{"production", "sandbox"}, s.read(t, "/me")["environment"])
	})
	t.Run("the answer is tenant, key and environment", func(t *testing.T) {
		require.ElementsMatch(t, []string{"tenant", "key", "environment"}, namesOf(s.read(t, "/me")))
	})
	t.Run("settings are always current", func(t *testing.T) {
		s.putTenant(t, func(settings *tenantsv1.PutTenantRequest) { settings.Currency = "EUR" })
		tenant, _ := s.me(t, s.key)
		require.Equal(t, "EUR", tenant["currency"])
	})
}

// namesOf are the members of a record.
func namesOf(record map[string]any) []string {
	var names []string
	for name := range record {
		names = append(names, name)
	}
	return names
}

// brandsOf gives the brands that the key reaches, by id.
func (s *shop) brandsOf(t *testing.T, key string) map[string]map[string]any {
	t.Helper()
	var brands []map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.get(t, key, "/brands").body), &brands))
	out := map[string]map[string]any{}
	for _, brand := range brands {
		out[idOf(brand)] = brand
	}
	return out
}

func (p *platform) promisesOfBrands(t *testing.T) {
	s := p.newShop(t, false)
	brands := s.brandsOf(t, s.key)
	t.Run("the brands are a plain array of those the key reaches", func(t *testing.T) {
		require.Len(t, brands, 2)
		limited := s.brandsOf(t, s.keyOf(t, s.other))
		require.Len(t, limited, 1)
		require.Contains(t, limited, s.other)
	})
	t.Run("the id of a brand is taken by an order and by a batch of links", func(t *testing.T) {
		require.Equal(t, s.other, s.place(t, with("brandId", s.other))["brandId"])
		require.Equal(t, s.other, s.link(t, with("brandId", s.other))["brandId"])
	})
	t.Run("a brand has its name", func(t *testing.T) { require.Equal(t, "North", brands[s.brand]["name"]) })
	t.Run("a brand has its slug", func(t *testing.T) { require.Equal(t, "north", brands[s.brand]["slug"]) })
	t.Run("the colour is hexadecimal, and null for the default", func(t *testing.T) {
		require.Regexp(t, `^#[0-9A-Fa-f]{6}$`, brands[s.brand]["primaryColour"])
		require.Contains(t, brands[s.other], "primaryColour")
		require.Nil(t, brands[s.other]["primaryColour"])
	})
	t.Run("the logo opens without a key by an absolute address, and is null when there is none", func(t *testing.T) {
		require.Contains(t, brands[s.brand], "logoUrl")
		require.Nil(t, brands[s.brand]["logoUrl"])
		logo := s.uploadLogo(t)
		s.putBrand(t, &tenantsv1.Brand{Id: s.other, Name: "South", Slug: "south", LogoUrl: proto.String(logo)})
		address, _ := s.brandsOf(t, s.key)[s.other]["logoUrl"].(string)
		require.Regexp(t, `^https?://`, address)
		require.Equal(t, http.StatusOK, open(t, address).status)
	})
}

// open reads an address without a key.
func open(t *testing.T, address string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	return exchange(t, req)
}

// uploadLogo gives the address of a logo of the second brand.
func (s *shop) uploadLogo(t *testing.T) string {
	t.Helper()
	logo, err := catalogv1.NewBrandLogosServiceClient(s.dial(t, "GIFTING_GRPC_CATALOG")).UploadBrandLogo(t.Context(),
		&catalogv1.UploadBrandLogoRequest{TenantId: s.tenant, BrandId: s.other, Content: photo(t, 90)})
	require.NoError(t, err)
	return logo.GetUrl()
}
