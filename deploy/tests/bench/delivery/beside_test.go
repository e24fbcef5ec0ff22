package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
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

// finished is how many deliveries finish while the backup runs. Each leaves three index entries behind that a claim might read.
func finished() int {
	if testing.Short() {
		return 100_000
	}
	return 500_000
}

// The statements of finished deliveries, as the service would have stored, leased and recorded them.
var finish = []string{
	`WITH made AS (
  INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT ($1::uuid[])[1 + n % $3], gen_random_uuid(), 'order.created', gen_random_uuid(), gen_random_uuid(), '', now()
  FROM generate_series(1, $4::int) AS n
  RETURNING tenant_id, event_id
)
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at, leased_by)
SELECT made.tenant_id, made.event_id, key_id, clock_timestamp(), now(), (SELECT max(id) FROM senders)
  FROM made JOIN unnest($1::uuid[], $2::int[]) AS k (tenant_id, key_id) USING (tenant_id)`,
	`UPDATE deliveries SET lease_token = gen_random_uuid(), next_attempt_at = next_attempt_at + interval '30 s' WHERE leased_by <> 0`,
	`UPDATE deliveries SET lease_token = NULL, leased_by = 0, state = 'DELIVERED', next_attempt_at = NULL,
  finished_at = clock_timestamp() WHERE leased_by <> 0`,
}

// BenchmarkBesideBackup measures how fast endpoints get their events: first as usual, then, in the same run, while a snapshot
// is open that was taken before many deliveries finished.
func BenchmarkBesideBackup(b *testing.B) {
	r := fixture.NewReceiver(b)
	p, tenants := newFixture(b, r.URLs(endpoints))
	change := p.recordChanges(b)
	var without, with fixture.Latencies
	fixture.Once(b, func() {
		without = p.latencies(b, r, change, tenants, nil, fixture.MeasuredTime(isolationRate))
		backup, err := pgx.Connect(b.Context(), fixture.URL(b, p.Database("webhook")))
		require.NoError(b, err)
		_, err = backup.Exec(b.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
		require.NoError(b, err)
		p.finishDeliveries(b, tenants)
		with = p.latencies(b, r, change, tenants, nil, fixture.MeasuredTime(isolationRate))
		require.NoError(b, backup.Close(b.Context()))
	})
	b.ReportMetric(without.At(.5), "p50-ms-without")
	b.ReportMetric(with.At(.5), "p50-ms-with")
	b.ReportMetric(with.At(.5)/without.At(.5), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; load %.1f", without, with, fixture.Load(b))
}

// finishDeliveries stores finished deliveries to the tenants' webhooks.
func (p *platform) finishDeliveries(b *testing.B, tenants []tenant) {
	b.Helper()
	var ids []string
	var keys []int32
	for _, t := range tenants {
		ids, keys = append(ids, t.ID), append(keys, t.key)
	}
	const steps = 5
	pool := p.Pool(b, "webhook", 1)
	for range steps {
		require.NoError(b, pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
			for i, statement := range finish {
				var args []any
				if i == 0 {
					args = []any{ids, keys, len(tenants), finished() / steps}
				}
				if _, err := tx.Exec(b.Context(), statement, args...); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
