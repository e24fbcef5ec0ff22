package server_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestAHashThatIsNoDigestIsInvalid(t *testing.T) {
	t.Parallel()
	invalid(t, setup(t).directory.ResolveKey, &tenantsv1.ResolveKeyRequest{KeyHash: []byte("short")}, "keyHash invalid")
}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand, foreign := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	t.Run("key and secret are in the response, but not in the table", func(t *testing.T) {
		made := f.createKey(tenant)
		env, err := apikey.Parse(made.GetApiKey())
		require.NoError(t, err)
		require.Equal(t, apikey.Sandbox, env)
		require.Regexp(t, `^[0-9a-f]{64}$`, made.GetWebhookSecret())
		require.True(t, strings.HasPrefix(made.GetApiKey(), made.GetKey().GetPrefix()))
		require.Nil(t, made.GetKey().GetBrandIds())
		require.Equal(t, []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS}, made.GetKey().GetScopes())

		row := pgtest.Value[string](t, f.pool, `SELECT k::text FROM api_keys k WHERE id = $1`, made.GetKey().GetId())
		require.Contains(t, row, hex.EncodeToString(apikey.Hash(made.GetApiKey())), "the row is the key's")
		decoded, err := hex.DecodeString(made.GetWebhookSecret())
		require.NoError(t, err)
		for _, secret := range []string{
			made.GetApiKey(), made.GetWebhookSecret(), string(decoded),
			hex.EncodeToString([]byte(made.GetApiKey())), hex.EncodeToString([]byte(made.GetWebhookSecret())),
		} {
			require.NotContains(t, row, secret)
		}
	})
	t.Run("the principal of a limited key names its brands and the tenant's version", func(t *testing.T) {
		made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			Actor: staff, TenantId: tenant, Name: "Limited", BrandIds: []string{brand, strings.ToUpper(brand)},
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
		})
		require.Equal(t, []string{brand}, made.GetKey().GetBrandIds().GetIds())
		require.NotEmpty(t, made.GetWebhookSecret(), "even without a webhook URL")
		principal, err := f.resolve(made.GetApiKey())
		require.NoError(t, err)
		require.Equal(t, (&commonv1.Principal{
			TenantId: tenant, KeyId: made.GetKey().GetId(), KeyName: "Limited",
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS}, BrandIds: []string{brand},
			TenantVersion: f.settings(tenant).GetVersion(),
		}).String(), principal.String())
	})
	t.Run("a brand of another tenant is refused", func(t *testing.T) {
		before := f.settings(tenant).GetVersion()
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			Actor: staff, TenantId: tenant, Name: "k", BrandIds: []string{brand, foreign, newID()},
		}, "brandIds[1] invalid", "brandIds[2] invalid")
		require.Equal(t, before, f.settings(tenant).GetVersion())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			Actor: staff, TenantId: "x", Name: strings.Repeat("n", 101), BrandIds: []string{"y"}, WebhookUrl: pointer(""),
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_UNSPECIFIED, 12},
		}, "tenantId invalid", "name too_long", "brandIds[0] invalid",
			"webhookUrl required", "scopes[1] invalid", "scopes[2] invalid")
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			Actor: staff, TenantId: tenant, Name: "k", AllBrands: true, BrandIds: []string{brand},
		}, "brandIds invalid")
	})

	t.Run("a tenant that does not exist is not found", func(t *testing.T) {
		requireRefused(t, problem.NotFound, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: newID(), Name: "k"})
	})
}

var (
	staff  = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Kim"}
	system = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
)

func TestUpdateKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand, foreign := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	made, neighbour := f.createKey(tenant), f.createKey(tenant)
	id := made.GetKey().GetId()
	narrow := &tenantsv1.UpdateKeyRequest{
		TenantId: tenant, KeyId: id, Actor: staff, Name: "Links", BrandIds: []string{brand, strings.ToUpper(brand)},
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
	}
	t.Run("name, scopes and brands are replaced, and nothing else", func(t *testing.T) {
		version := f.settings(tenant).GetVersion()
		want := proto.CloneOf(made.GetKey())
		want.Name, want.BrandIds = "Links", &tenantsv1.BrandIds{Ids: []string{brand}}
		want.Scopes = []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS}
		for range 2 { // A repetition changes nothing.
			require.Equal(t, want.String(), call(t, f.ops.UpdateKey, narrow).GetKey().String())
			require.Equal(t, version+1, f.settings(tenant).GetVersion())
		}
		me, err := f.public.GetMe(f.keyContext(made.GetApiKey()), &tenantsv1.GetMeRequest{})
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
	version := f.settings(tenant).GetVersion()
	t.Run("it is validated as a new key", func(t *testing.T) {
		invalid(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id, AllBrands: true, BrandIds: []string{brand},
		}, "actor required", "name required", "brandIds invalid")
		invalid(t, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id, Actor: staff, Name: "k", BrandIds: []string{brand, foreign, newID()},
		}, "brandIds[1] invalid", "brandIds[2] invalid")
	})
	t.Run("an unknown or revoked key is not found", func(t *testing.T) {
		requireRefused(t, problem.NotFound, f.ops.UpdateKey, &tenantsv1.UpdateKeyRequest{
			TenantId: tenant, KeyId: id + 1000, Actor: staff, Name: "k",
		})
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{TenantId: tenant, KeyId: id, Actor: staff})
		requireRefused(t, problem.NotFound, f.ops.UpdateKey, narrow)
	})
	require.Equal(t, version+1, f.settings(tenant).GetVersion(), "only the revocation")
}

func TestGetMe(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	made := f.createKey(tenant)
	ctx := f.keyContext(made.GetApiKey())
	t.Run("a key without brands has an empty list", func(t *testing.T) {
		none := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "None"})
		me, err := f.public.GetMe(f.keyContext(none.GetApiKey()), &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		require.NotNil(t, me.GetKey().GetBrandIds())
		require.Empty(t, me.GetKey().GetBrandIds().GetIds())
		require.Nil(t, me.GetKey().WebhookUrl)
	})
	t.Run("a key of another tenant is refused", func(t *testing.T) {
		crossed, err := caller.Outgoing(t.Context(),
			caller.Principal{TenantID: other, KeyID: made.GetKey().GetId()}, caller.Request{})
		require.NoError(t, err)
		_, err = f.public.GetMe(crossed, &tenantsv1.GetMeRequest{})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
	t.Run("a revoked key is refused", func(t *testing.T) {
		revoked := f.createKey(tenant)
		asRevoked := f.keyContext(revoked.GetApiKey())
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: tenant, KeyId: revoked.GetKey().GetId()})
		_, err := f.public.GetMe(asRevoked, &tenantsv1.GetMeRequest{})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
	t.Run("access that was switched off is refused", func(t *testing.T) {
		f.setAccess(tenant, false)
		_, err := f.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
	t.Run("a call without a principal is refused", func(t *testing.T) {
		requireRefused(t, problem.InvalidAPIKey, f.public.GetMe, &tenantsv1.GetMeRequest{})
		requireRefused(t, problem.InvalidAPIKey, f.public.ListBrands, &tenantsv1.ListBrandsRequest{})
	})
}

func TestBrandsAreListedByName(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	for _, name := range []string{"cirrus", "Aurora", "Borealis"} {
		f.brand(tenant, name)
	}
	f.brand(other, "Foreign")
	none := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "n"})
	all := f.createKey(tenant)
	for key, want := range map[string][]string{all.GetApiKey(): {"Aurora", "Borealis", "cirrus"}, none.GetApiKey(): nil} {
		resp, err := f.public.ListBrands(f.keyContext(key), &tenantsv1.ListBrandsRequest{})
		require.NoError(t, err)
		var names []string
		for _, brand := range resp.GetBrands() {
			names = append(names, brand.GetName())
		}
		require.Equal(t, want, names)
	}
}
