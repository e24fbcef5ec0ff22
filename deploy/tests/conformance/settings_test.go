package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// me reads the two records of GET /me.
func (f *fixture) me(t *testing.T, key string) (tenant, own record) {
	t.Helper()
	body := f.Get(t, key, "/me").OK(t)
	return body["tenant"].(record), body["key"].(record)
}

func testTenants(t *testing.T, p *platform) {
	f := newFixture(t, p)
	tenant, _ := f.me(t, f.key)
	field := func(id, label, kind string, options ...any) any {
		return record{"id": id, "label": label, "type": kind, "required": false, "options": append([]any{}, options...)}
	}
	for id, member := range map[string]struct {
		path string
		want any
	}{
		"TEN-1": {"id", f.tenant},
		"TEN-2": {"name", tenantName},
		"TEN-3": {"locales", []any{"en-US", "sv-SE", "de-DE"}},
		"TEN-4": {"currency", "SEK"},
		"TEN-5": {"approvalRequired", false},
		"TEN-7": {"customFields", []any{
			field(f.text, "Note", "TEXT"), field(f.box, "Card", "CHECKBOX"), field(f.choice, "Occasion", "DROPDOWN", "Birthday", "Jackpot"),
		}},
	} {
		requirement(t, id, func(t *testing.T) { require.Equal(t, member.want, tenant[member.path]) })
	}
	requirement(t, "TEN-8", func(t *testing.T) {
		for path, want := range map[string]string{"0": "TEXT", "1": "CHECKBOX", "2": "DROPDOWN"} {
			require.Equal(t, want, at(tenant, "customFields."+path+".type"))
		}
	})
	requirement(t, "TEN-6", func(t *testing.T) {
		first := &tenantsv1.CustomField{Id: uuid.NewString(), Label: "First", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}
		f.putField(t, -1, first)
		after, _ := f.me(t, f.key)
		require.Equal(t, first.GetId(), at(after, "customFields.0.id"))
	})
}

func testKeys(t *testing.T, p *platform) {
	f := newFixture(t, p)
	made := f.makeKey(t, ofScope(commonv1.Scope_SCOPE_ORDERS), ofBrand(f.other),
		func(key *tenantsv1.CreateKeyRequest) { key.Name = "Narrow" })
	_, narrow := f.me(t, made.GetApiKey())
	_, wide := f.me(t, f.key)
	requirement(t, "KEY-1", func(t *testing.T) { require.InDelta(t, made.GetKey().GetId(), narrow["id"], 0) })
	requirement(t, "KEY-2", func(t *testing.T) { require.Equal(t, "Narrow", narrow["name"]) })
	requirement(t, "KEY-3", func(t *testing.T) {
		prefix, _ := narrow["prefix"].(string)
		require.NotEmpty(t, prefix)
		require.True(t, strings.HasPrefix(made.GetApiKey(), prefix))
		require.Less(t, len(prefix), len(made.GetApiKey())/2, "most of the key stays secret")
	})
	requirement(t, "KEY-4", func(t *testing.T) {
		require.Equal(t, []any{"ORDERS"}, narrow["scopes"])
		require.ElementsMatch(t, []any{"CATALOG", "ORDERS", "PERSONAL_LINKS"}, wide["scopes"])
	})
	requirement(t, "KEY-5", func(t *testing.T) {
		requireNull(t, wide, "brandIds")
		later := &tenantsv1.Brand{Id: uuid.NewString(), Name: "Later", Slug: "later"}
		f.putBrand(t, later)
		f.place(t, with("brandId", later.GetId()))
	})
	requirement(t, "KEY-6", func(t *testing.T) { require.Equal(t, []any{f.other}, narrow["brandIds"]) })
	requirement(t, "KEY-7", func(t *testing.T) {
		requireNull(t, narrow, "webhookUrl")
		address := inboxURL(t, p) + "/me"
		_, err := f.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
			Actor: operator, TenantId: f.tenant, KeyId: made.GetKey().GetId(), Url: &address,
		})
		require.NoError(t, err)
		_, own := f.me(t, made.GetApiKey())
		require.Equal(t, address, own["webhookUrl"])
	})
	requirement(t, "KEY-8", func(t *testing.T) {
		require.NotEmpty(t, made.GetWebhookSecret())
		require.NotContains(t, f.Get(t, made.GetApiKey(), "/me").Body, made.GetWebhookSecret())
	})
	body := f.read(t, "/me")
	requirement(t, "KEY-9", func(t *testing.T) { require.Contains(t, []any{"production", "sandbox"}, body["environment"]) })
	requirement(t, "ME-1", func(t *testing.T) { require.ElementsMatch(t, []string{"tenant", "key", "environment"}, namesOf(body)) })
	requirement(t, "ME-2", func(t *testing.T) {
		f.putTenant(t, func(tenant *tenantsv1.PutTenantRequest) { tenant.Currency = "EUR" })
		tenant, _ := f.me(t, f.key)
		require.Equal(t, "EUR", tenant["currency"])
	})
}

// requireNull checks that the records have the members, and that they are null.
func requireNull(t *testing.T, r record, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Contains(t, r, name)
		require.Nil(t, r[name], name)
	}
}

// brandsOf reads the brands that the key may see, by id.
func (f *fixture) brandsOf(t *testing.T, key string) map[string]record {
	t.Helper()
	out := map[string]record{}
	for _, brand := range f.Array(t, key, "/brands") {
		out[idOf(brand)] = brand
	}
	return out
}

func testBrands(t *testing.T, p *platform) {
	f := newFixture(t, p)
	brands := f.brandsOf(t, f.key)
	north, south := brands[f.brand], brands[f.other]
	requirement(t, "BRA-1", func(t *testing.T) {
		require.Len(t, brands, 2)
		limited := f.brandsOf(t, f.newKey(t, ofBrand(f.other)))
		require.Len(t, limited, 1)
		require.Contains(t, limited, f.other)
	})
	requirement(t, "BRA-2", func(t *testing.T) {
		require.Equal(t, f.other, f.place(t, with("brandId", f.other))["brandId"])
		require.Equal(t, f.other, f.link(t, with("brandId", f.other))["brandId"])
	})
	requirement(t, "BRA-3", func(t *testing.T) { require.Equal(t, "North", north["name"]) })
	requirement(t, "BRA-4", func(t *testing.T) { require.Equal(t, "north", north["slug"]) })
	requirement(t, "BRA-5", func(t *testing.T) {
		require.Regexp(t, `^#[0-9A-Fa-f]{6}$`, north["primaryColour"])
		requireNull(t, south, "primaryColour")
	})
	requirement(t, "BRA-6", func(t *testing.T) {
		requireNull(t, north, "logoUrl")
		logo, err := f.Logos(t).UploadBrandLogo(t.Context(), &catalogv1.UploadBrandLogoRequest{
			TenantId: f.tenant, BrandId: f.other, Content: photo(t, 90),
		})
		require.NoError(t, err)
		f.putBrand(t, &tenantsv1.Brand{Id: f.other, Name: "South", Slug: "south", LogoUrl: &logo.Url})
		address, _ := f.brandsOf(t, f.key)[f.other]["logoUrl"].(string)
		require.Regexp(t, `^https?://`, address)
		require.Equal(t, http.StatusOK, harness.Visit(t, address).Status)
	})
}
