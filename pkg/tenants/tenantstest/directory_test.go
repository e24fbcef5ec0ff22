package tenantstest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTheDirectoryAnswersWhatATestSets(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := tenantstest.NewDirectory(t, &tenantstest.Settings{Version: 1, Tenant: &tenantsv1.Tenant{Id: "t", Currency: "SEK"}})

	version := d.ChangeTenant("t", func(s *tenantstest.Settings) { s.Tenant.Currency = "EUR" })
	s, err := d.Client.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: "t"})
	require.NoError(t, err)
	require.EqualValues(t, 2, version)
	require.Equal(t, "EUR", s.GetTenant().GetCurrency())
	_, err = d.Client.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: "another"})
	require.True(t, problem.Is(err, problem.NotFound))
	require.Equal(t, 2, d.Calls("GetTenantSettings"))

	_, err = d.Client.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: []byte("h")})
	require.True(t, problem.Is(err, problem.NotFound))
	d.SetKeys(func(hash []byte) *commonv1.Principal { return &commonv1.Principal{TenantId: string(hash)} })
	p, err := d.Client.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: []byte("h")})
	require.NoError(t, err)
	require.Equal(t, "h", p.GetPrincipal().GetTenantId())

	d.Subscribe("t", &tenantsv1.EndpointSubscription{KeyId: 7})
	list, err := d.Client.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{TenantIds: []string{"another", "t"}})
	require.NoError(t, err)
	require.Len(t, list.GetEndpoints(), 1)
	require.Equal(t, "t", list.GetEndpoints()[0].GetTenantId())

	d.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, Url: "https://example.com"})
	endpoints, err := d.Client.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: []int32{6, 7}})
	require.NoError(t, err)
	require.Len(t, endpoints.GetEndpoints(), 1)
}

func TestTheDirectoryFailsOnDemand(t *testing.T) {
	t.Parallel()
	d := tenantstest.NewDirectory(t)
	call := func() error {
		_, err := d.Client.GetEndpoints(t.Context(), &tenantsv1.GetEndpointsRequest{})
		return err
	}
	d.Fail(problem.Unavailable())
	require.True(t, problem.Is(call(), problem.ServiceUnavailable))
	require.Equal(t, 1, d.Calls("GetEndpoints"), "a failure is not tried again")
	d.Fail(nil)
	require.NoError(t, call())

	d.OnCall(func(_ context.Context, req proto.Message) error {
		require.IsType(t, &tenantsv1.GetEndpointsRequest{}, req)
		return problem.RecordNotFound()
	})
	require.True(t, problem.Is(call(), problem.NotFound))
}
