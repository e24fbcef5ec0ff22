package bench_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
	"github.com/partnergifting/platform/deploy/local"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// usesOfKey stays below the 300 requests that a key has in a minute.
	usesOfKey = 290
	// keysAhead are made before anything is measured.
	keysAhead = 300
)

// tenant has one brand and no webhook, so that a request is all that it costs.
type tenant struct {
	id, brand string
}

func dial(b *testing.B, env map[string]string, variable string) *local.Conn {
	b.Helper()
	conn, err := local.Dial(env, variable)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close()) })
	return conn
}

func makeTenant(b *testing.B, operations tenantsv1.TenantOperationsServiceClient) tenant {
	b.Helper()
	made := stack.NewTenant(b, operations)
	return tenant{id: made.ID, brand: made.Brand}
}

// keyring hands out keys of the tenant, each of which has its own rate limit.
type keyring struct {
	ctx        context.Context //nolint:containedctx // The benchmark's, which all keys are made in.
	operations tenantsv1.TenantOperationsServiceClient
	tenant     tenant

	lock sync.Mutex
	free []string
}

func newKeyring(b *testing.B, operations tenantsv1.TenantOperationsServiceClient, of tenant) *keyring {
	b.Helper()
	k := &keyring{ctx: b.Context(), operations: operations, tenant: of}
	for range keysAhead {
		key, err := k.create()
		require.NoError(b, err)
		k.free = append(k.free, key)
	}
	return k
}

func (k *keyring) create() (string, error) {
	made, err := k.operations.CreateKey(k.ctx, &tenantsv1.CreateKeyRequest{
		TenantId: k.tenant.id, Name: "benchmark", AllBrands: true,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
	return made.GetApiKey(), err
}

func (k *keyring) take() (string, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if len(k.free) == 0 {
		return k.create()
	}
	key := k.free[0]
	k.free = k.free[1:]
	return key, nil
}
