package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The columns of the matrix: who acts, and for which programs the call may be made for them at all.
const (
	anAdministrator = "Administrator"
	aCoordinator    = "Coordinator"
	aMember         = "Member"
	aFormer         = "former Administrator"
	aStranger       = "Administrator of another tenant"
	aMadeUp         = "made-up person"
	aClient         = "client"
	aClerk          = "operator"
	aSystem         = "system"
)

// matrix says who may make each call.
var matrix = map[string][]string{
	"TenantOperationsService/PutTenant":           {anAdministrator, aClerk},
	"TenantOperationsService/PutTeamMember":       {anAdministrator, aClerk},
	"TenantOperationsService/CreateKey":           {anAdministrator, aClerk},
	"TenantOperationsService/UpdateKey":           {anAdministrator, aClerk},
	"TenantOperationsService/RevokeKey":           {anAdministrator, aClerk},
	"TenantOperationsService/SetWebhookUrl":       {anAdministrator, aClerk},
	"TenantOperationsService/RotateWebhookSecret": {anAdministrator, aClerk},
	"TenantOperationsService/PutBrand":            {anAdministrator, aCoordinator, aClerk, aSystem},
	"TenantOperationsService/PutGiftSite":         {anAdministrator, aCoordinator, aClerk, aSystem},
	"TenantOperationsService/PutCustomField":      {anAdministrator, aCoordinator, aClerk, aSystem},
	"TenantOperationsService/GetTenant":           {anAdministrator, aCoordinator, aMember, aClerk, aSystem},
	"TenantOperationsService/ListKeys":            {anAdministrator, aCoordinator, aMember, aClerk, aSystem},
	"TenantOperationsService/ListKeyAudit":        {anAdministrator, aClerk, aSystem},
	"TenantOperationsService/ListTenantAudit":     {anAdministrator, aClerk, aSystem},
	"TenantOperationsService/ListTenants":         {aClerk, aSystem},

	"OffboardingOperationsService/OffboardTenant":    {aClerk, aSystem},
	"OffboardingOperationsService/CancelOffboarding": {aClerk, aSystem},
	"OffboardingOperationsService/GetOffboarding":    {aClerk, aSystem},
	"OffboardingOperationsService/ExportTenant":      {aClerk, aSystem},

	"PrivacyOperationsService/ErasePerson":  {anAdministrator, aClerk},
	"PrivacyOperationsService/ExportPerson": {anAdministrator, aClerk},
}

// allowedServices says which programs may call which services. No other program may.
var allowedServices = map[identity.Name][]string{
	identity.Workspace:  {"TenantOperationsService", "PrivacyOperationsService"},
	identity.Backoffice: {"TenantOperationsService", "PrivacyOperationsService", "OffboardingOperationsService"},
	identity.Operator:   {"TenantOperationsService"},
}

// expectedOutcome is what the call must end with; empty: it is accepted.
func expectedOutcome(from identity.Name, call, who string) string {
	service, _, _ := strings.Cut(call, "/")
	ofTeam := !slices.Contains([]string{aClerk, aSystem}, who)
	switch {
	case !slices.Contains(allowedServices[from], service):
		return "caller_not_allowed"
	case ofTeam != (from == identity.Workspace):
		return "actor_not_allowed"
	case slices.Contains(matrix[call], who):
		return ""
	case slices.Contains([]string{aFormer, aStranger, aMadeUp}, who) && !strings.HasSuffix(call, "/ListTenants"):
		return string(problem.NotFound)
	default:
		return string(problem.InsufficientScope)
	}
}

// outcomeOf is how a call ended, in the words of expectedOutcome.
func outcomeOf(err error) string {
	if err == nil {
		return ""
	}
	for _, reason := range []string{"caller_not_allowed", "actor_not_allowed"} {
		if strings.Contains(err.Error(), reason) {
			return reason
		}
	}
	p, ok := problem.As(err)
	if !ok {
		return err.Error()
	}
	return string(p.Code)
}

// requests are those of each call for the tenant. They can be repeated.
func (f *fixture) requests(tenant string, keyID int32) map[string]proto.Message {
	f.t.Helper()
	id, brand, made, recipient := newID(), f.brand(tenant, newID()), f.createKey(tenant).GetKey(), eraseRecipient(tenant)
	f.person(tenant)
	return map[string]proto.Message{
		"TenantOperationsService/PutTenant": tenantRequest(tenant),
		"TenantOperationsService/PutBrand": &tenantsv1.PutBrandRequest{
			TenantId: tenant, Brand: &tenantsv1.Brand{Id: id, Name: "n", Slug: id},
		},
		"TenantOperationsService/PutGiftSite": &tenantsv1.PutGiftSiteRequest{
			TenantId: tenant, BrandId: brand, Site: &tenantsv1.GiftSite{},
		},
		"TenantOperationsService/PutTeamMember": &tenantsv1.PutTeamMemberRequest{TenantId: tenant, Member: &tenantsv1.TeamMember{
			Id: id, Name: "n", Email: id + "@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}},
		"TenantOperationsService/PutCustomField": &tenantsv1.PutCustomFieldRequest{
			TenantId: tenant, Field: &tenantsv1.CustomField{Id: id, Label: "l", Type: textField},
		},
		"TenantOperationsService/CreateKey": &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: "k"},
		"TenantOperationsService/UpdateKey": &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: keyID, Name: "k"},
		"TenantOperationsService/RevokeKey": &tenantsv1.RevokeKeyRequest{TenantId: tenant, KeyId: made.GetId()},
		"TenantOperationsService/SetWebhookUrl": &tenantsv1.SetWebhookUrlRequest{
			TenantId: tenant, KeyId: keyID, Url: made.WebhookUrl,
		},
		"TenantOperationsService/RotateWebhookSecret": &tenantsv1.RotateWebhookSecretRequest{TenantId: tenant, KeyId: keyID},
		"TenantOperationsService/GetTenant":           &tenantsv1.GetTenantRequest{TenantId: tenant},
		"TenantOperationsService/ListTenants":         &tenantsv1.ListTenantsRequest{},
		"TenantOperationsService/ListKeys":            &tenantsv1.ListKeysRequest{TenantId: tenant},
		"TenantOperationsService/ListKeyAudit":        &tenantsv1.ListKeyAuditRequest{TenantId: tenant},
		"TenantOperationsService/ListTenantAudit":     &tenantsv1.ListTenantAuditRequest{TenantId: tenant},

		"OffboardingOperationsService/OffboardTenant":    &tenantsv1.OffboardTenantRequest{TenantId: f.tenant()},
		"OffboardingOperationsService/CancelOffboarding": &tenantsv1.CancelOffboardingRequest{TenantId: f.leaving()},
		"OffboardingOperationsService/GetOffboarding":    &tenantsv1.GetOffboardingRequest{TenantId: f.leaving()},
		"OffboardingOperationsService/ExportTenant":      &tenantsv1.ExportTenantRequest{TenantId: tenant},

		"PrivacyOperationsService/ErasePerson": recipient,
		"PrivacyOperationsService/ExportPerson": &tenantsv1.ExportPersonRequest{
			TenantId: tenant, Subject: &tenantsv1.ExportPersonRequest_ExternalRecipientId{
				ExternalRecipientId: recipient.GetExternalRecipientId(),
			},
		},
	}
}

// leaving is a tenant that is being off-boarded.
func (f *fixture) leaving() string {
	f.t.Helper()
	id := f.tenant()
	f.offboard(id)
	return id
}

// member adds a member to the team and returns the actor.
func (f *fixture) member(tenantID string, role tenantsv1.TeamRole, active bool) *commonv1.Actor {
	f.t.Helper()
	id := newID()
	call(f.t, f.ops.PutTeamMember, &tenantsv1.PutTeamMemberRequest{Actor: staff, TenantId: tenantID, Member: &tenantsv1.TeamMember{
		Id: id, Name: "n", Email: id + "@example.com", Role: role, Active: active,
	}})
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id}
}

func TestEveryCallByEveryCallerForEveryActor(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, other := f.tenant(), f.tenant()
	const administrator = tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR
	actors := map[string]*commonv1.Actor{
		anAdministrator: f.member(tenant, administrator, true),
		aCoordinator:    f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true),
		aMember:         f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true),
		aFormer:         f.member(tenant, administrator, false),
		aStranger:       f.member(other, administrator, true),
		aMadeUp:         {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: newID()},
		aClient:         {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "client-1"},
		aClerk:          staff,
		aSystem:         system,
	}
	keyID := f.createKey(tenant).GetKey().GetId()
	signer := identitytest.New(t)
	addr := f.listen(rpc.Config{TLS: signer.Config(t, identity.Tenants)}, ringOf(t, "k1", "a"))
	for _, from := range identity.Names() {
		conn, err := rpc.Dial(rpc.Target{Addr: addr, Service: identity.Tenants, TLS: signer.Config(t, from)}, telemetry.Discard())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		for who, by := range actors {
			for name, req := range f.requests(tenant, keyID) {
				t.Run(fmt.Sprintf("%s by %s for %s", name, from, who), func(t *testing.T) {
					message := req.ProtoReflect()
					message.Set(message.Descriptor().Fields().ByName("actor"), protoreflect.ValueOfMessage(by.ProtoReflect()))
					err := conn.Invoke(t.Context(), "/gifting.tenants.v1."+name, req, &emptypb.Empty{})
					require.Equal(t, expectedOutcome(from, name, who), outcomeOf(err))
				})
			}
		}
	}
}

func TestEveryCallIsInTheMatrix(t *testing.T) {
	t.Parallel()
	methods := 0
	for _, service := range []grpc.ServiceDesc{
		tenantsv1.TenantOperationsService_ServiceDesc, tenantsv1.OffboardingOperationsService_ServiceDesc,
		tenantsv1.PrivacyOperationsService_ServiceDesc,
	} {
		for _, m := range service.Methods {
			methods++
			require.Contains(t, matrix, strings.TrimPrefix(service.ServiceName, "gifting.tenants.v1.")+"/"+m.MethodName)
		}
	}
	require.Len(t, matrix, methods)
}
