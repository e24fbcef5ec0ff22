package delivery_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// platform is a running stack.
type platform struct{ *stack.Stack }

func start(b *testing.B) *platform {
	b.Helper()
	return &platform{stack.StartOnKafka(b)}
}

// database connects to a service's database as its owner.
func (p *platform) database(b *testing.B, service string) *pgxpool.Pool {
	b.Helper()
	const connections = 16
	return p.Pool(b, service, connections)
}

// tenant has one brand, and one key with a webhook or none.
type tenant struct {
	stack.Tenant

	key    int32
	secret string
}

// tenants makes tenants whose keys have the addresses as their webhooks; an empty address is none.
func (p *platform) tenants(b *testing.B, webhooks []string) []tenant {
	b.Helper()
	operations := p.Operations(b)
	made := make([]tenant, len(webhooks))
	for i, webhook := range webhooks {
		of := stack.NewTenant(b, operations)
		key := stack.NewKey(b, operations, of, webhook)
		made[i] = tenant{Tenant: of, key: key.GetKey().GetId(), secret: key.GetWebhookSecret()}
	}
	return made
}
