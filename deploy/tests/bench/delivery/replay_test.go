package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// replayed is the most that one replay sends again.
const replayed = 10_000

// BenchmarkBesideReplay measures how fast 99 of 100 endpoints get their events: first while the last one is dead, then, in the
// same run, while the key of that one has just replayed 10,000 deliveries.
func BenchmarkBesideReplay(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes more than a minute")
	}
	r := fixture.NewReceiver(b)
	const dead = endpoints - 1
	p, tenants := newFixture(b, append(r.URLs(dead), r.URL(dead, fixture.Dead)))
	change, failed := p.recordChanges(b), p.failDeliveries(b, tenants[dead])
	var without, with fixture.Latencies
	fixture.Once(b, func() {
		without = p.latencies(b, r, change, tenants, []int{dead}, 20*time.Second)
		p.replay(b, tenants[dead], failed)
		with = p.latencies(b, r, change, tenants, []int{dead}, 20*time.Second)
	})
	reportBeside(b, without, with)
}

// failDeliveries stores deliveries of a key that have failed, and returns when their events were recorded.
func (p *platform) failDeliveries(b *testing.B, of tenant) time.Time {
	b.Helper()
	first := uuid.Must(uuid.NewV7())
	_, err := p.Pool(b, "webhook", connections).Exec(b.Context(), `
WITH n AS (SELECT overlay($3::text PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid AS id FROM generate_series(1, $1::int) n),
e AS (INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT $2, id, 'order.created', $2, id, '{}', now() FROM n)
INSERT INTO deliveries (tenant_id, event_id, key_id, state, attempts, created_at, finished_at)
SELECT $2, id, $4, 'FAILED', 8, now(), now() FROM n`,
		replayed, of.ID, first.String(), of.key)
	require.NoError(b, err)
	return time.Unix(first.Time().UnixTime())
}

// replay sends them again, as the gateway does for the key.
func (p *platform) replay(b *testing.B, of tenant, recorded time.Time) {
	b.Helper()
	ctx, err := caller.Outgoing(context.Background(), caller.Principal{
		TenantID: of.ID, KeyID: of.key, AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	}, caller.Request{})
	require.NoError(b, err)
	resp, err := webhookv1.NewWebhookServiceClient(p.Dial(b, "GIFTING_GRPC_WEBHOOK")).
		ReplayWebhooks(ctx, &webhookv1.ReplayWebhooksRequest{
			From: timestamppb.New(recorded.Add(-time.Second)), To: timestamppb.New(recorded.Add(time.Millisecond)),
		})
	require.NoError(b, err)
	require.EqualValues(b, replayed, resp.GetDeliveries())
}
