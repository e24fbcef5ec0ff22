package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// platform is a running platform on Kafka.
type platform struct{ *fixture.Platform }

func newFixture(b *testing.B) *platform {
	b.Helper()
	return &platform{fixture.StartOnKafka(b)}
}

// tenant has one brand, and one API key with a webhook or without.
type tenant struct {
	fixture.Tenant

	key    int32
	secret string
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
	}
	return made
}
