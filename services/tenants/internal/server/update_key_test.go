package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var (
	staff  = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Kim"}
	system = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
)

func TestUpdateKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand, foreign := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	made, neighbour := f.key(tenant), f.key(tenant)
	id := made.GetKey().GetId()
	narrow := &tenantsv1.UpdateKeyRequest{
		TenantId: tenant, KeyId: id, Actor: staff, Name: "Links", BrandIds: []string{brand, strings.ToUpper(brand)},
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
	}
	t.Run("name, scopes and brands are replaced, and nothing else", func(t *testing.T) {
		version := f.settings(tenant).GetVersion()
		want := proto.CloneOf(made.GetKey())
		want.Name, want.Scopes, want.BrandIds = "Links", []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS}, &tenantsv1.BrandIds{Ids: []string{brand}}
		for range 2 { // A repetition changes nothing.
			require.Equal(t, want.String(), call(t, f.ops.UpdateKey, narrow).GetKey().String())
			require.Equal(t, version+1, f.settings(tenant).GetVersion())
		}
		me, err := f.public.GetMe(f.as(made.GetApiKey()), &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		require.Equal(t, want.String(), me.GetKey().String())
		principal, err := f.resolve(made.GetApiKey())
		require.NoError(t, err)
		require.Equal(t, (&commonv1.Principal{
			TenantId: tenant, KeyId: id, KeyName: "Links", Scopes: want.GetScopes(), BrandIds: []string{brand}, TenantVersion: version + 1,
		}).String(), principal.String())
		require.Equal(t, made.GetWebhookSecret(), f.endpoint(id).GetSecret())
	})
	t.Run("other keys stay as they are", func(t *testing.T) {
		principal, err := f.resolve(neighbour.GetApiKey())
		require.NoError(t, err)
		require.True(t, principal.GetAllBrands())
		require.Equal(t, "Shop", principal.GetKeyName())
	})
	t.Run("brands can be opened again", func(t *testing.T) {
		got := call(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: id, Actor: staff, Name: "Links", AllBrands: true})
		require.Nil(t, got.GetKey().GetBrandIds())
		require.Empty(t, got.GetKey().GetScopes())
	})
	version := f.settings(tenant).GetVersion()
	t.Run("it is validated as a new key", func(t *testing.T) {
		invalid(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id, Name: strings.Repeat("n", 101), BrandIds: []string{"y"},
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_UNSPECIFIED, 12},
		}, "actor required", "name too_long", "brandIds[0] invalid", "scopes[1] invalid", "scopes[2] invalid")
		invalid(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id, Actor: staff, AllBrands: true, BrandIds: []string{brand},
		}, "name required", "brandIds invalid")
		invalid(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id, Actor: staff, Name: "k", BrandIds: []string{brand, foreign, newID()},
		}, "brandIds[1] invalid", "brandIds[2] invalid")
	})
	t.Run("an unknown or revoked key is not found", func(t *testing.T) {
		refused(t, problem.NotFound, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: id + 1000, Actor: staff, Name: "k"})
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{TenantId: tenant, KeyId: id, Actor: staff})
		refused(t, problem.NotFound, f.ops.UpdateKey, narrow)
	})
	require.Equal(t, version+1, f.settings(tenant).GetVersion(), "only the revocation")
}

func TestTheSameConcurrentUpdateOfAKeyHappensOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	id := f.key(tenant).GetKey().GetId()
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := f.ops.UpdateKey(t.Context(), &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: id, Actor: staff, Name: "k"})
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 3, f.settings(tenant).GetVersion())
	require.Len(t, f.audit(tenant, &id), 2, "created and updated")
}
