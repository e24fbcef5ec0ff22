package server_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// edge has copies as the gateway and the services have them: a copy is used until a newer version of the tenant is published.
type edge struct {
	*fixture
	tenantID, apiKey string
	keyID            int32

	principal *commonv1.Principal // Nil: the key is refused.
	settings  *tenantsv1.GetTenantSettingsResponse
}

// request makes a request with the key. It reads again only what a published version says is old.
func (e *edge) request() {
	e.t.Helper()
	published, err := e.redis.Get(e.t.Context(), tenants.VersionKey(e.tenantID)).Int64()
	require.NoError(e.t, err)
	if published <= e.principal.GetTenantVersion() {
		return
	}
	e.principal, err = e.resolve(e.apiKey)
	if problem.Is(err, problem.NotFound) {
		return // Refused; no service is called.
	}
	require.NoError(e.t, err)
	require.Equal(e.t, published, e.principal.GetTenantVersion())
	if e.settings.GetVersion() < e.principal.GetTenantVersion() {
		e.settings = e.fixture.settings(e.tenantID)
	}
}

// change is an RPC that changes what requests see.
type change struct {
	make func(e *edge)
	// seen reports whether the last request saw the change.
	seen func(e *edge) bool
}

// changes are all RPCs of the operations plane that change something.
var changes = map[string]change{
	"PutTenant": {func(e *edge) {
		req := tenantRequest(e.tenantID)
		req.ApprovalRequired = true
		call(e.t, e.ops.PutTenant, req)
	}, func(e *edge) bool { return e.settings.GetTenant().GetApprovalRequired() }},
	"PutTenant without access": {func(e *edge) {
		e.setAccess(e.tenantID, false)
	}, func(e *edge) bool { return e.principal == nil }},
	"PutBrand": {func(e *edge) {
		e.brand(e.tenantID, "Borealis")
	}, func(e *edge) bool { return len(e.settings.GetBrands()) == 1 }},
	"PutGiftSite": {func(e *edge) {
		call(e.t, e.ops.PutGiftSite, &tenantsv1.PutGiftSiteRequest{
			Actor: staff, TenantId: e.tenantID, BrandId: e.brand(e.tenantID, "Borealis"), Site: &tenantsv1.GiftSite{},
		})
	}, func(e *edge) bool { return len(e.settings.GetGiftSites()) == 1 }},
	"PutTeamMember": {func(e *edge) {
		call(e.t, e.ops.PutTeamMember, &tenantsv1.PutTeamMemberRequest{Actor: staff, TenantId: e.tenantID, Member: &tenantsv1.TeamMember{
			Id: newID(), Name: "Kim", Email: "kim@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true,
		}})
	}, func(e *edge) bool { return len(e.settings.GetTeam()) == 1 }},
	"PutCustomField": {func(e *edge) {
		call(e.t, e.ops.PutCustomField, &tenantsv1.PutCustomFieldRequest{
			Actor: staff, TenantId: e.tenantID, Field: &tenantsv1.CustomField{Id: newID(), Label: "Cost centre", Type: textField},
		})
	}, func(e *edge) bool { return len(e.settings.GetTenant().GetCustomFields()) == 1 }},
	// The key is new, so no request has a copy of it. But every change of the tenant's keys has a version.
	"CreateKey": {func(e *edge) {
		e.apiKey = e.createKey(e.tenantID).GetApiKey()
	}, func(e *edge) bool { return e.principal.GetKeyId() != e.keyID }},
	"UpdateKey": {func(e *edge) {
		call(e.t, e.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{TenantId: e.tenantID, KeyId: e.keyID, Actor: staff, Name: "Narrow"})
	}, func(e *edge) bool {
		return e.principal.GetKeyName() == "Narrow" && len(e.principal.GetScopes()) == 0 && !e.principal.GetAllBrands()
	}},
	"RevokeKey": {func(e *edge) {
		call(e.t, e.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: e.tenantID, KeyId: e.keyID})
	}, func(e *edge) bool { return e.principal == nil }},
	// URL and secret are read at each delivery. The version tells whoever has a copy.
	"SetWebhookUrl": {func(e *edge) {
		call(e.t, e.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{
			Actor: staff, TenantId: e.tenantID, KeyId: e.keyID, Url: pointer("https://other.example.com"),
		})
	}, func(e *edge) bool {
		return e.endpoint(e.keyID).GetUrl() == "https://other.example.com" && e.principal.GetTenantVersion() == 3
	}},
	"RotateWebhookSecret": {func(e *edge) {
		call(e.t, e.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{Actor: staff, TenantId: e.tenantID, KeyId: e.keyID})
	}, func(e *edge) bool { return e.principal.GetTenantVersion() == 3 }},
	"OffboardTenant": {func(e *edge) {
		e.offboard(e.tenantID)
	}, func(e *edge) bool { return e.principal == nil }},
	"CancelOffboarding": {func(e *edge) {
		e.offboard(e.tenantID)
		e.request()
		call(e.t, e.offboarding.CancelOffboarding, &tenantsv1.CancelOffboardingRequest{Actor: staff, TenantId: e.tenantID})
	}, func(e *edge) bool { return e.principal.GetTenantVersion() == 4 }},
}

// A change that publishes no version is committed, but requests go on with what they had.
func TestTheNextRequestSeesEveryChange(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			sub := *f
			sub.t = t
			tenant := sub.tenant()
			made := sub.createKey(tenant)
			e := &edge{fixture: &sub, tenantID: tenant, apiKey: made.GetApiKey(), keyID: made.GetKey().GetId()}
			e.request()
			require.False(t, c.seen(e), "before the change")
			c.make(e)
			e.request()
			require.True(t, c.seen(e))
		})
	}
}

func TestEveryChangingRPCIsFollowedByARequest(t *testing.T) {
	t.Parallel()
	for _, service := range []protoreflect.ServiceDescriptor{
		tenantsv1.File_gifting_tenants_v1_operations_proto.Services().ByName("TenantOperationsService"),
		tenantsv1.File_gifting_tenants_v1_offboarding_proto.Services().ByName("OffboardingOperationsService"),
	} {
		for i := range service.Methods().Len() {
			name := string(service.Methods().Get(i).Name())
			if !regexp.MustCompile("^(List|Get|Export)").MatchString(name) {
				require.Contains(t, changes, name, "it needs a request that must see the change")
			}
		}
	}
}

func TestSettingsAndTheirVersionBelongTogether(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	done := make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		defer close(done)
		for i := range 60 {
			_, err := f.ops.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
				Actor: staff, TenantId: tenant, Brand: &tenantsv1.Brand{Id: newID(), Name: "n", Slug: fmt.Sprintf("slug-%d", i)},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		settings := f.settings(tenant)
		require.EqualValues(t, len(settings.GetBrands())+1, settings.GetVersion())
	}
	require.NoError(t, writer.Wait())
}
