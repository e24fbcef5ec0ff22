package seed

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// tenant is a tenant with all its records. None of its order fields is required, so that an order without answers is valid.
type tenant struct {
	settings *tenantsv1.PutTenantRequest
	brands   []*tenantsv1.Brand
	team     []*tenantsv1.TeamMember
	fields   []*tenantsv1.CustomField
}

func (s *seeder) putTenants(ctx context.Context) error {
	for _, t := range []tenant{nordlys(), rheingold()} {
		if err := s.putTenant(ctx, t); err != nil {
			return fmt.Errorf("tenant %s: %w", t.settings.GetName(), err)
		}
	}
	return nil
}

func (s *seeder) putTenant(ctx context.Context, t tenant) error {
	if _, err := s.tenants.PutTenant(ctx, t.settings); err != nil {
		return err
	}
	tenantID := t.settings.GetId()
	for _, brand := range t.brands {
		if err := s.putBrand(ctx, tenantID, brand); err != nil {
			return fmt.Errorf("brand %s: %w", brand.GetSlug(), err)
		}
		if err := s.putGiftSite(ctx, tenantID, brand); err != nil {
			return fmt.Errorf("gift site of brand %s: %w", brand.GetSlug(), err)
		}
	}
	for _, member := range t.team {
		if _, err := s.tenants.PutTeamMember(ctx, &tenantsv1.PutTeamMemberRequest{
			Actor: Installer, TenantId: tenantID, Member: member,
		}); err != nil {
			return fmt.Errorf("team member %s: %w", member.GetEmail(), err)
		}
	}
	for i, field := range t.fields {
		req := &tenantsv1.PutCustomFieldRequest{Actor: Installer, TenantId: tenantID, Field: field, Position: int32(i)}
		if _, err := s.tenants.PutCustomField(ctx, req); err != nil {
			return fmt.Errorf("custom field %s: %w", field.GetLabel(), err)
		}
	}
	return nil
}

// putBrand puts the brand twice, because its logo can be stored only for a brand that exists.
func (s *seeder) putBrand(ctx context.Context, tenantID string, brand *tenantsv1.Brand) error {
	put := &tenantsv1.PutBrandRequest{Actor: Installer, TenantId: tenantID, Brand: brand}
	if _, err := s.tenants.PutBrand(ctx, put); err != nil {
		return err
	}
	content, err := Image("logo-" + brand.GetSlug())
	if err != nil {
		return err
	}
	stored, err := s.logos.UploadBrandLogo(ctx, &catalogv1.UploadBrandLogoRequest{
		TenantId: tenantID, BrandId: brand.GetId(), Content: content,
	})
	if err != nil {
		return err
	}
	brand.LogoUrl = proto.String(stored.GetUrl())
	_, err = s.tenants.PutBrand(ctx, put)
	return err
}

func nordlys() tenant {
	return tenant{
		settings: &tenantsv1.PutTenantRequest{
			Actor: Installer, Id: Direct, Name: "Nordlys Play", Locales: []string{"sv-SE", "de-DE"}, Currency: Currency, ApiAccess: true,
		},
		brands: []*tenantsv1.Brand{
			brand("nordlys-casino", "Nordlys Casino", "#1B4B8F"),
			brand("polar-spins", "Polar Spins", "#0FA3B1"),
			brand("fjord-live", "Fjord Live", ""),
		},
		team: []*tenantsv1.TeamMember{
			member("Astrid Lindqvist", "astrid.lindqvist@nordlys.example", tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true),
			member("Jonas Berg", "jonas.berg@nordlys.example", tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true),
			member("Maja Sandström", "maja.sandstrom@nordlys.example", tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true),
			member("Erik Holm", "erik.holm@nordlys.example", tenantsv1.TeamRole_TEAM_ROLE_MEMBER, false),
		},
		fields: []*tenantsv1.CustomField{
			text("nordlys/occasion-note", "Note for the VIP host"),
			checkbox("nordlys/handwritten-card", "Add a handwritten card"),
			dropdown("nordlys/occasion", "Occasion", "Birthday", "Anniversary", "Jackpot", "Welcome back"),
		},
	}
}

func rheingold() tenant {
	return tenant{
		settings: &tenantsv1.PutTenantRequest{
			Actor: Installer, Id: Approving, Name: "Rheingold Gaming", Locales: []string{"de-DE"}, Currency: "EUR", ApprovalRequired: true,
			ApiAccess: true,
		},
		brands: []*tenantsv1.Brand{
			brand("rheingold", "Rheingold", "#B8860B"),
			brand("lorelei-bingo", "Lorelei Bingo", "#7A1F3D"),
		},
		team: []*tenantsv1.TeamMember{
			member("Katharina Vogel", "katharina.vogel@rheingold.example", tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true),
			member("Felix Brandt", "felix.brandt@rheingold.example", tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true),
		},
		fields: []*tenantsv1.CustomField{
			text("rheingold/cost-centre", "Cost centre"),
			checkbox("rheingold/invoice-separately", "Invoice separately"),
			dropdown("rheingold/budget", "Budget", "Retention", "Acquisition", "Events"),
		},
	}
}

func brand(slug, name, colour string) *tenantsv1.Brand {
	b := &tenantsv1.Brand{Id: id("brand/" + slug), Name: name, Slug: slug}
	if colour != "" {
		b.PrimaryColour = proto.String(colour)
	}
	return b
}

func memberID(email string) string { return id("member/" + email) }

func member(name, email string, role tenantsv1.TeamRole, active bool) *tenantsv1.TeamMember {
	return &tenantsv1.TeamMember{Id: memberID(email), Name: name, Email: email, Role: role, Active: active}
}

func text(name, label string) *tenantsv1.CustomField {
	return &tenantsv1.CustomField{Id: id("field/" + name), Label: label, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}
}

func checkbox(name, label string) *tenantsv1.CustomField {
	return &tenantsv1.CustomField{Id: id("field/" + name), Label: label, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX}
}

func dropdown(name, label string, options ...string) *tenantsv1.CustomField {
	return &tenantsv1.CustomField{
		Id: id("field/" + name), Label: label, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Options: options,
	}
}
