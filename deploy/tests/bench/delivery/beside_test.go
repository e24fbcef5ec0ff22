package delivery_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

const (
	// manyHealthy of the endpoints respond, manySlow respond after slowness, and manyDead never.
	manyHealthy, manySlow, manyDead = 80, 20, 100

	manyEndpoints = manyHealthy + manySlow + manyDead
)

// BenchmarkBesideManyDeadEndpoints measures how fast the healthy ones of 200 endpoints get their events: first alone, while the
// other changes are of tenants without webhooks, then, in the same run, while they go to 100 dead endpoints and 20 slow ones.
func BenchmarkBesideManyDeadEndpoints(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes more than a minute")
	}
	r := fixture.NewReceiver(b)
	urls := r.URLs(manyHealthy)
	for endpoint := manyHealthy; endpoint < manyEndpoints; endpoint++ {
		path := fixture.Dead
		if endpoint < manyHealthy+manySlow {
			path = fixture.Slow
		}
		urls = append(urls, r.URL(endpoint, path))
	}
	p, all := newFixture(b, append(urls, make([]string, manySlow+manyDead)...))
	tenants, alone := all[:manyEndpoints], slices.Concat(all[:manyHealthy], all[manyEndpoints:])
	var bad []int
	for endpoint := manyHealthy; endpoint < manyEndpoints; endpoint++ {
		bad = append(bad, endpoint)
	}
	change := p.recordChanges(b)
	var without, with fixture.Latencies
	fixture.Once(b, func() {
		without = p.latencies(b, r, change, alone, bad, isolationTime)
		with = p.latencies(b, r, change, tenants, bad, isolationTime)
	})
	reportBeside(b, without, with)
}

// reportBeside reports the latencies without and with what disturbs them.
func reportBeside(b *testing.B, without, with fixture.Latencies) {
	b.Helper()
	b.ReportMetric(without.At(.99), "p99-ms-without")
	b.ReportMetric(with.At(.99), "p99-ms-with")
	b.ReportMetric(with.At(.99)/without.At(.99), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; load %.1f", without, with, fixture.Load(b))
}

const (
	// isolationRate is that of the changes of all endpoints, healthy ones or not.
	isolationRate = 200
	// isolationTime gives 3,200 changes to the healthy ones of many endpoints.
	isolationTime = 40 * time.Second
)

// latencies measures at all endpoints but the bad ones, for a time at isolationRate.
func (p *platform) latencies(
	b *testing.B, r *fixture.Receiver, change makeChange, tenants []tenant, bad []int, measured time.Duration,
) fixture.Latencies {
	b.Helper()
	w := newWriter(change, tenants)
	w.run(b, isolationRate, measured)
	maps.DeleteFunc(w.answered, func(order string, _ time.Time) bool { return slices.Contains(bad, w.endpoints[order]) })
	return fixture.Between(p.Recorded(b, w.answered), await(b, r, w))
}

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
	ctx, err := of.Call(b.Context(), of.key)
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
	const steps = 5
	ids, keys := idsAndKeys(tenants)
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
