package server_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestPutBrand(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, other := f.tenant(), f.tenant()
	brand := &tenantsv1.Brand{
		Id: newID(), Name: "Aurora", Slug: "aurora-2", PrimaryColour: pointer("#1a2B3C"),
		LogoUrl: pointer("https://cdn.example.com/a.svg"),
	}
	put := func(tenantID string, brand *tenantsv1.Brand) *tenantsv1.PutBrandRequest {
		return &tenantsv1.PutBrandRequest{Actor: staff, TenantId: tenantID, Brand: brand}
	}
	t.Run("a brand is created and replaced", func(t *testing.T) {
		call(t, f.ops.PutBrand, put(tenant, brand))
		brand.Name, brand.LogoUrl = "Aurora Club", nil
		call(t, f.ops.PutBrand, put(tenant, brand))
		settings := f.settings(tenant)
		require.EqualValues(t, 3, settings.GetVersion())
		require.Len(t, settings.GetBrands(), 1)
		require.Equal(t, brand.String(), settings.GetBrands()[0].String())
	})
	t.Run("the id of another tenant's brand is not found and changes nothing", func(t *testing.T) {
		before := f.settings(tenant)
		takenOver := &tenantsv1.Brand{Id: brand.GetId(), Name: "Taken over", Slug: "taken"}
		requireRefused(t, problem.NotFound, f.ops.PutBrand, put(other, takenOver))
		require.Equal(t, before.String(), f.settings(tenant).String())
		require.EqualValues(t, 1, f.settings(other).GetVersion())
		require.Empty(t, f.settings(other).GetBrands())
	})
	t.Run("a slug belongs to one brand of the tenant", func(t *testing.T) {
		again := &tenantsv1.Brand{Id: newID(), Name: "Second", Slug: brand.GetSlug()}
		invalid(t, f.ops.PutBrand, put(tenant, again), "brand.slug duplicate")
		call(t, f.ops.PutBrand, put(other, again))
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutBrand, put("x", &tenantsv1.Brand{
			Id: "y", Slug: "No Slug", PrimaryColour: pointer("red"), LogoUrl: pointer("/logo.svg"),
		}), "tenantId invalid", "brand.id invalid", "brand.name required", "brand.slug invalid",
			"brand.primaryColour invalid", "brand.logoUrl invalid")
		invalid(t, f.ops.PutBrand, put(tenant, nil), "brand required")
	})
	t.Run("a tenant that does not exist is not found", func(t *testing.T) {
		requireRefused(t, problem.NotFound, f.ops.PutBrand, put(newID(), &tenantsv1.Brand{Id: newID(), Name: "n", Slug: "s"}))
	})
}

func TestSettingsAreThoseOfTheirTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	f.brand(tenant, "Aurora")
	field := &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: textField}
	member := &tenantsv1.TeamMember{
		Id: newID(), Name: "Ann", Email: "ann@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true,
	}
	for range 2 { // The second time they are there.
		call(t, f.ops.PutCustomField, &tenantsv1.PutCustomFieldRequest{Actor: staff, TenantId: tenant, Field: field})
		call(t, f.ops.PutTeamMember, &tenantsv1.PutTeamMemberRequest{Actor: staff, TenantId: tenant, Member: member})
	}
	s := f.settings(tenant)
	require.Len(t, s.GetBrands(), 1)
	require.Equal(t, "Aurora", s.GetBrands()[0].GetName())
	require.Len(t, s.GetTenant().GetCustomFields(), 1)
	require.Equal(t, "Tier", s.GetTenant().GetCustomFields()[0].GetLabel())
	require.Len(t, s.GetTeam(), 1)
	require.Equal(t, "Ann", s.GetTeam()[0].GetName())
}

const (
	textField     = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT
	checkboxField = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX
	dropdownField = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
)

func TestPutCustomField(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, other := f.tenant(), f.tenant()
	put := func(tenantID string, field *tenantsv1.CustomField, position int32) *tenantsv1.PutCustomFieldRequest {
		return &tenantsv1.PutCustomFieldRequest{
			Actor: staff, TenantId: tenantID, Field: field, Position: position,
		}
	}
	last := &tenantsv1.CustomField{Id: newID(), Label: "Cost centre", Type: textField, Required: true}
	first := &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: dropdownField, Options: []string{"Gold", "Silver"}}
	middle := &tenantsv1.CustomField{Id: newID(), Label: "VIP", Type: checkboxField}
	call(t, f.ops.PutCustomField, put(tenant, last, 30))
	call(t, f.ops.PutCustomField, put(tenant, first, -1))
	call(t, f.ops.PutCustomField, put(tenant, middle, 2))
	t.Run("fields are in display order", func(t *testing.T) {
		listed := f.settings(tenant).GetTenant().GetCustomFields()
		require.Len(t, listed, 3)
		for i, want := range []*tenantsv1.CustomField{first, middle, last} {
			require.Equal(t, want.String(), listed[i].String())
		}
	})
	t.Run("moving a field is a change", func(t *testing.T) {
		before := f.settings(tenant).GetVersion()
		call(t, f.ops.PutCustomField, put(tenant, last, -5))
		after := f.settings(tenant)
		require.Equal(t, before+1, after.GetVersion())
		require.Equal(t, last.GetId(), after.GetTenant().GetCustomFields()[0].GetId())
	})
	t.Run("the type of a field cannot change", func(t *testing.T) {
		changed := &tenantsv1.CustomField{Id: last.GetId(), Label: "Cost centre", Type: checkboxField}
		invalid(t, f.ops.PutCustomField, put(tenant, changed, 30), "field.type invalid")
	})
	t.Run("another tenant's field is not found", func(t *testing.T) {
		requireRefused(t, problem.NotFound, f.ops.PutCustomField, put(other, first, 1))
	})
	t.Run("a dropdown has options, no other field has", func(t *testing.T) {
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{Id: newID(), Label: "l", Type: dropdownField}, 0),
			"field.options required")
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{
			Id: newID(), Label: "l", Type: textField, Options: []string{"a"},
		}, 0),
			"field.options invalid")
		invalid(t, f.ops.PutCustomField, put(tenant, &tenantsv1.CustomField{
			Id: newID(), Label: "l", Type: dropdownField, Options: []string{"a", " ", "a"},
		}, 0), "field.options[1] required", "field.options[2] duplicate")
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutCustomField, put("x", &tenantsv1.CustomField{Type: 7}, 0),
			"tenantId invalid", "field.id invalid", "field.label required", "field.type invalid")
		invalid(t, f.ops.PutCustomField, put(tenant, nil, 0), "field required")
	})
}

func TestPutTeamMember(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, other := f.tenant(), f.tenant()
	put := func(tenantID string, m *tenantsv1.TeamMember) *tenantsv1.PutTeamMemberRequest {
		return &tenantsv1.PutTeamMemberRequest{Actor: staff, TenantId: tenantID, Member: m}
	}
	ann := &tenantsv1.TeamMember{
		Id: newID(), Name: "Ann", Email: "Ann@Example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true,
	}
	call(t, f.ops.PutTeamMember, put(tenant, ann))
	t.Run("settings name active members, by lower-case address", func(t *testing.T) {
		team := f.settings(tenant).GetTeam()
		require.Len(t, team, 1)
		require.Equal(t, "ann@example.com", team[0].GetEmail())
		require.Equal(t, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, team[0].GetRole())

		gone := &tenantsv1.TeamMember{
			Id: newID(), Name: "Bo", Email: "bo@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		call(t, f.ops.PutTeamMember, put(tenant, gone))
		require.Len(t, f.settings(tenant).GetTeam(), 1)
		require.EqualValues(t, 3, f.settings(tenant).GetVersion())
	})
	t.Run("an address belongs to one member of a tenant, whatever its case", func(t *testing.T) {
		again := &tenantsv1.TeamMember{
			Id: newID(), Name: "Ann II", Email: "ANN@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}
		invalid(t, f.ops.PutTeamMember, put(tenant, again), "member.email duplicate")
		call(t, f.ops.PutTeamMember, put(other, again))
	})
	t.Run("another tenant's member is not found", func(t *testing.T) {
		requireRefused(t, problem.NotFound, f.ops.PutTeamMember, put(other, ann))
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutTeamMember, put("x", &tenantsv1.TeamMember{Email: "ann", Role: 9}),
			"tenantId invalid", "member.id invalid", "member.name required", "member.email invalid", "member.role invalid")
		invalid(t, f.ops.PutTeamMember, put(tenant, &tenantsv1.TeamMember{Id: newID(), Name: "n"}),
			"member.email required", "member.role invalid")
		invalid(t, f.ops.PutTeamMember, put(tenant, nil), "member required")
	})
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const administrator, coordinator = tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR
	change := func(by *commonv1.Actor, tenant, id string, role tenantsv1.TeamRole, active bool) error {
		member := &tenantsv1.TeamMember{Id: id, Name: "n", Email: id + "@example.com", Role: role, Active: active}
		_, err := f.ops.PutTeamMember(t.Context(), &tenantsv1.PutTeamMemberRequest{Actor: by, TenantId: tenant, Member: member})
		return err
	}
	t.Run("whether it leaves or takes another role", func(t *testing.T) {
		tenant := f.tenant()
		ann := f.member(tenant, administrator, true)
		f.member(tenant, administrator, false)
		f.member(f.tenant(), administrator, true)
		version := f.settings(tenant).GetVersion()
		require.True(t, problem.Is(change(ann, tenant, ann.GetId(), administrator, false), problem.NotEditable))
		require.True(t, problem.Is(change(ann, tenant, ann.GetId(), coordinator, true), problem.NotEditable))
		require.Equal(t, version, f.settings(tenant).GetVersion())
		require.NoError(t, change(staff, tenant, ann.GetId(), coordinator, true), "the operator may")
	})
	for name, other := range map[string]bool{"two who leave at once": false, "two who remove each other at once": true} {
		t.Run(name, func(t *testing.T) {
			tenant := f.tenant()
			both := []*commonv1.Actor{f.member(tenant, administrator, true), f.member(tenant, administrator, true)}
			results := make([]error, 2)
			var group sync.WaitGroup
			for i, by := range both {
				removed := by
				if other {
					removed = both[1-i]
				}
				group.Go(func() { results[i] = change(by, tenant, removed.GetId(), administrator, false) })
			}
			group.Wait()
			require.Len(t, f.settings(tenant).GetTeam(), 1)
			require.NotEqual(t, results[0] == nil, results[1] == nil, "%v", results)
		})
	}
}

func TestPutTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := newID()
	t.Run("a new tenant is returned with en-US before its own locales", func(t *testing.T) {
		req := tenantRequest(strings.ToUpper(id))
		req.Locales = []string{"sv-se", "en-US", "de", "sv-SE"}
		req.ApprovalRequired = true
		resp := call(t, f.ops.PutTenant, req)
		require.Equal(t, id, resp.GetTenant().GetId())
		require.Equal(t, []string{"en-US", "sv-SE", "de"}, resp.GetTenant().GetLocales())
		require.True(t, resp.GetTenant().GetApprovalRequired())
		require.EqualValues(t, 1, f.settings(id).GetVersion())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutTenant, &tenantsv1.PutTenantRequest{
			Actor: staff, Id: "x", Name: " ", Locales: []string{"sv-SE", "", "sv_SE", "nonsense-tag-of-words"}, Currency: "eur",
		}, "id invalid", "name required", "currency invalid",
			"locales[1] invalid", "locales[2] invalid", "locales[3] invalid")
	})
	t.Run("what has less effect than one may expect is said", func(t *testing.T) {
		req := tenantRequest(id)
		for currency, want := range map[string][]string{
			"SEK": nil,
			"JPY": {"The catalog has no exchange rate for JPY, so gifts are unpriced until it has one."},
			"DKK": {"The catalog did not say whether it has an exchange rate for DKK. Without one, gifts are unpriced."},
		} {
			req.Currency, req.Locales = currency, []string{"sv-SE"}
			require.Equal(t, want, call(t, f.ops.PutTenant, req).GetWarnings())
			require.Equal(t, currency, f.settings(id).GetTenant().GetCurrency(), "the tenant is put")
		}
		req.Currency, req.Locales = "SEK", []string{"ja-JP"}
		require.Equal(t, []string{"The gift site has no texts for ja-JP: its pages are in en-US."},
			call(t, f.ops.PutTenant, req).GetWarnings())
	})
}

func TestSettingsOfAnUnknownTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	requireRefused(t, problem.NotFound, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: newID()})
	invalid(t, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: "x"}, "tenantId invalid")
}

func siteOf(f *fixture, tenantID, brandID string) *tenantsv1.GiftSite {
	for _, s := range f.settings(tenantID).GetGiftSites() {
		if s.GetBrandId() == brandID {
			return s.GetSite()
		}
	}
	return nil
}

func fullSite() *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{
		PrivacyUrl: pointer("https://aurora.example/privacy?lang=sv"), TermsUrl: pointer("https://aurora.example/terms"),
		SupportUrl: pointer("mailto:help@aurora.example"), ImprintUrl: pointer("https://aurora.example/imprint"),
		HomeUrl: pointer("https://aurora.example/vip"),
		Theme: &tenantsv1.Theme{
			AccentColour: pointer("#C8102E"), HeroImageId: pointer(strings.Repeat("0a", 16)),
			Typeface: tenantsv1.Typeface_TYPEFACE_SERIF, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
			ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_DARK, DarkLogoImageId: pointer(strings.Repeat("0b", 16)),
		},
		DeliveryTimes: []*tenantsv1.DeliveryTime{
			{Country: "SE", MinBusinessDays: 2, MaxBusinessDays: 4}, {Country: "DE", MinBusinessDays: 60, MaxBusinessDays: 60},
		},
		WithoutThanks: true,
		Sender: &tenantsv1.Sender{
			Name: pointer("Åsa " + strings.Repeat("å", 96)), PortraitImageId: pointer(strings.Repeat("0c", 16)),
			SignatureImageId: pointer(strings.Repeat("0d", 16)),
		},
	}
}

func TestPutGiftSite(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, other := f.tenant(), f.tenant()
	brand, theirs := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	put := func(tenantID, brandID string, site *tenantsv1.GiftSite) *tenantsv1.PutGiftSiteRequest {
		return &tenantsv1.PutGiftSiteRequest{Actor: staff, TenantId: tenantID, BrandId: brandID, Site: site}
	}
	t.Run("a site is put, replaced, audited, and not changed by a repetition or by its brand", func(t *testing.T) {
		call(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{}))
		require.JSONEq(t, `{"after": {"corners": "SOFT", "typeface": "SYSTEM", "colourScheme": "AUTO", "withoutThanks": false}}`,
			f.tenantAudit(tenant)[0].GetDetail(), "what is absent has its default")
		call(t, f.ops.PutGiftSite, put(tenant, brand, fullSite()))
		version, entries := f.settings(tenant).GetVersion(), len(f.tenantAudit(tenant))
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
		require.Equal(t, brand, f.tenantAudit(tenant)[0].GetSubjectId())
		require.Equal(t, tenantsv1.TenantAction_TENANT_ACTION_PUT_GIFT_SITE, f.tenantAudit(tenant)[0].GetAction())
		require.Contains(t, f.tenantAudit(tenant)[0].GetDetail(), `"privacyUrl": "https://aurora.example/privacy?lang=sv"`)
		require.Contains(t, f.tenantAudit(tenant)[0].GetDetail(), `"minBusinessDays": 2`)
		for _, personal := range []string{"Åsa", "help@aurora.example"} {
			require.NotContains(t, f.tenantAudit(tenant)[0].GetDetail(), personal, "the audit names no person")
		}

		call(t, f.ops.PutGiftSite, put(tenant, brand, fullSite()))
		require.Equal(t, version, f.settings(tenant).GetVersion())
		require.Len(t, f.tenantAudit(tenant), entries)
		call(t, f.ops.PutBrand, &tenantsv1.PutBrandRequest{
			Actor: staff, TenantId: tenant, Brand: &tenantsv1.Brand{Id: brand, Name: "Aurora Club", Slug: "aurora"},
		})
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
		read, err := f.ops.GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: staff, TenantId: tenant})
		require.NoError(t, err)
		require.Len(t, read.GetGiftSites(), 1)
		require.Equal(t, fullSite().String(), read.GetGiftSites()[0].GetSite().String())
	})
	t.Run("each part alone is a change, and can be removed", func(t *testing.T) {
		for _, change := range []func(site *tenantsv1.GiftSite){
			func(site *tenantsv1.GiftSite) { site.DeliveryTimes[0].MaxBusinessDays++ },
			func(site *tenantsv1.GiftSite) { site.DeliveryTimes = nil },
			func(site *tenantsv1.GiftSite) { site.Sender = &tenantsv1.Sender{Name: pointer("Åsa")} },
			func(site *tenantsv1.GiftSite) {
				site.Sender = &tenantsv1.Sender{PortraitImageId: pointer(strings.Repeat("0c", 16))}
			},
			func(site *tenantsv1.GiftSite) { site.Sender = &tenantsv1.Sender{Name: pointer("Eva")} },
			func(site *tenantsv1.GiftSite) { site.Sender = nil },
			func(*tenantsv1.GiftSite) {},
		} {
			version, site := f.settings(tenant).GetVersion(), fullSite()
			change(site)
			call(t, f.ops.PutGiftSite, put(tenant, brand, site))
			require.Greater(t, f.settings(tenant).GetVersion(), version)
			require.Equal(t, site.String(), siteOf(f, tenant, brand).String())
		}
	})
	t.Run("the brand of another tenant is not found and changes nothing", func(t *testing.T) {
		before := f.settings(other).String()
		requireRefused(t, problem.NotFound, f.ops.PutGiftSite, put(tenant, theirs, fullSite()))
		requireRefused(t, problem.NotFound, f.ops.PutGiftSite, put(tenant, newID(), fullSite()))
		requireRefused(t, problem.NotFound, f.ops.PutGiftSite, put(newID(), brand, fullSite()))
		require.Equal(t, before, f.settings(other).String())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutGiftSite, put("x", "", nil), "tenantId invalid", "brandId required", "site required")
		invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{
			PrivacyUrl: pointer("http://aurora.example/privacy"), TermsUrl: pointer("https://user:secret@aurora.example"),
			SupportUrl: pointer("mailto:help@aurora.example?bcc=x@example.com"), ImprintUrl: pointer("https://aurora.example/a b"),
			HomeUrl: pointer("https://aurora.example/" + strings.Repeat("a", 2048)),
			Theme: &tenantsv1.Theme{
				AccentColour: pointer("red"), HeroImageId: pointer("../x"), Typeface: 99, Corners: 99, ColourScheme: 99,
				DarkLogoImageId: pointer(strings.Repeat("0B", 16)),
			},
			Sender: &tenantsv1.Sender{
				Name: pointer(strings.Repeat("å", 101)), PortraitImageId: pointer("x"), SignatureImageId: pointer("../x"),
			},
		}), "site.privacyUrl invalid", "site.termsUrl invalid", "site.supportUrl invalid", "site.imprintUrl invalid",
			"site.homeUrl too_long", "site.theme.accentColour invalid", "site.theme.heroImageId invalid",
			"site.theme.typeface invalid", "site.theme.corners invalid", "site.theme.colourScheme invalid",
			"site.theme.darkLogoImageId invalid", "site.sender.name too_long", "site.sender.portraitImageId invalid",
			"site.sender.signatureImageId invalid")
		invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{
			Sender: &tenantsv1.Sender{Name: pointer("Åsa\nEk")},
		}), "site.sender.name invalid")
		invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{
			HomeUrl: pointer("mailto:help@aurora.example"),
		}), "site.homeUrl invalid")
		for _, bad := range []string{"mailto:", "mailto:help", "mailto:a@b.example,c@d.example", "http://aurora.example"} {
			invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{SupportUrl: &bad}), "site.supportUrl invalid")
		}
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
	})
}
