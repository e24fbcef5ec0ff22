package delivery_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// TestMain lets the receiver and the programs of the floor be processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv(floorVariable) == "" {
		os.Exit(fixture.Main(m))
	}
	if err := runFloor(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", os.Args[1], err)
		os.Exit(1)
	}
}

// platform is a running platform on Kafka.
type platform struct{ *fixture.Platform }

// newFixture starts a platform and a tenant for each webhook. The tenants exist before the programs start.
func newFixture(b *testing.B, webhooks []string) (*platform, []tenant) {
	b.Helper()
	var tenants []tenant
	deployed := fixture.Deploy(b, func(p *fixture.Platform) { tenants = (&platform{p}).tenants(b, webhooks) })
	return &platform{deployed}, tenants
}

// tenant has one brand, and one API key with a webhook or without.
type tenant struct {
	fixture.Tenant

	key    int32
	secret string
	// keys place orders through the gateway. They have no webhook.
	keys *fixture.Keyring
}

// tenants makes tenants whose keys have the addresses as their webhooks. An empty address means no webhook.
func (p *platform) tenants(b *testing.B, webhooks []string) []tenant {
	b.Helper()
	made := make([]tenant, len(webhooks))
	for i, webhook := range webhooks {
		made[i].Tenant = p.NewTenant(b)
		key, err := made[i].NewKey(b.Context(), webhook)
		require.NoError(b, err)
		made[i].key, made[i].secret = key.GetKey().GetId(), key.GetWebhookSecret()
		made[i].keys = fixture.NewKeyring(b, made[i].Tenant, 1)
	}
	return made
}

func idsAndKeys(tenants []tenant) (ids []string, keys []int32) {
	for _, t := range tenants {
		ids, keys = append(ids, t.ID), append(keys, t.key)
	}
	return ids, keys
}
