package stack

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Tenant has one brand.
type Tenant struct{ ID, Brand string }

// Operations is the operations plane of tenants.
func (s *Stack) Operations(b testing.TB) tenantsv1.TenantOperationsServiceClient {
	b.Helper()
	return tenantsv1.NewTenantOperationsServiceClient(s.Dial(b, "GIFTING_GRPC_TENANTS"))
}

// NewTenant makes a tenant.
func NewTenant(b testing.TB, operations tenantsv1.TenantOperationsServiceClient) Tenant {
	b.Helper()
	t := Tenant{ID: uuid.NewString(), Brand: uuid.NewString()}
	_, err := operations.PutTenant(b.Context(), &tenantsv1.PutTenantRequest{
		Id: t.ID, Name: "Benchmark", Currency: "SEK", ApiAccess: true,
	})
	require.NoError(b, err)
	_, err = operations.PutBrand(b.Context(), &tenantsv1.PutBrandRequest{
		TenantId: t.ID, Brand: &tenantsv1.Brand{Id: t.Brand, Name: "Benchmark", Slug: "benchmark"},
	})
	require.NoError(b, err)
	return t
}

// NewKey makes a key of the tenant for orders, with a webhook unless its address is empty.
func NewKey(b testing.TB, operations tenantsv1.TenantOperationsServiceClient, of Tenant, webhook string) *tenantsv1.CreateKeyResponse {
	b.Helper()
	request := &tenantsv1.CreateKeyRequest{
		TenantId: of.ID, Name: "benchmark", Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
	}
	if webhook != "" {
		request.WebhookUrl = proto.String(webhook)
	}
	made, err := operations.CreateKey(b.Context(), request)
	require.NoError(b, err)
	return made
}
