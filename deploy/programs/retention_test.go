package programs_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

const (
	day = 24 * time.Hour
	// ahead is how far the clock of a database is ahead of the retention clock.
	ahead = 40 * day
)

// agedRow is a row that periodic work deletes, erases or acts on because of its age.
type agedRow struct {
	work string
	// setting says for how long the row stays; without one, keep does.
	setting string
	keep    time.Duration
	table   string
	// values are those of columns, as SQL. $old is a time just past the retention. Other columns that need a value get one.
	values map[string]string
	// stays is true of the row until the work finds it old enough. Empty: it is there.
	stays string
	// calls means that the work calls other programs, which do not run, and fails when it acts on the row.
	calls bool
}

func answer() agedRow {
	return agedRow{
		work: "idempotency", setting: "GIFTING_IDEMPOTENCY_RETENTION", table: "idempotency_answers",
		values: map[string]string{"created_at": "$old", "answer": "''"},
	}
}

func audit(work, table string) agedRow {
	return agedRow{work: work, setting: "GIFTING_AUDIT_RETENTION", table: table, values: map[string]string{
		"at": "$old", "actor_kind": "'BACKOFFICE_ACCOUNT'", "detail": "'{}'",
	}}
}

// agedRows are rows of each program: at least one for each kind of periodic work that goes by age.
func agedRows() map[identity.Name][]agedRow {
	erasure := map[string]string{
		"completed_at": "$old", "action": "'EXPORT'", "subject_kind": "'ORDER'", "actor_kind": "'BACKOFFICE_ACCOUNT'",
	}
	orders := audit("retention", "order_audit")
	delete(orders.values, "detail")
	orders.stays = "at < now() - interval '366 days'" // Others follow from the work on orders.
	catalog := audit("maintenance", "catalog_audit")
	catalog.stays = orders.stays // Another one follows from the campaign.
	order := func(status string) map[string]string {
		return map[string]string{
			"status": status, "created_at": "$old", "updated_at": "$old", "details_sealed": "'x'", "source": "'API'", "version": "0",
			"item_kind": "'CATALOG'", "product_id": "gen_random_uuid()", "variations": "'{}'", "delivery_country": "'SE'",
		}
	}
	link := func(values map[string]string) map[string]string {
		maps.Copy(values, map[string]string{"created_at": "$old", "updated_at": "$old", "details_sealed": "'x'"})
		return values
	}
	return map[identity.Name][]agedRow{
		identity.Tenants: {
			answer(), audit("retention", "tenant_audit"),
			{work: "retention", setting: "GIFTING_AUDIT_RETENTION", table: "person_requests", values: erasure},
			{work: "retention", table: "api_keys", stays: "previous_webhook_secret IS NOT NULL", values: map[string]string{
				"tenant_id": "(SELECT id FROM tenants)", "hash": "sha256('x')", "prefix": "'gft'", "name": "'Key'", "scopes": "'{}'",
				"brand_ids": "'{}'", "previous_webhook_secret": "'x'", "previous_signs_until": "$old",
			}},
			{work: "offboardings", table: "offboardings", values: map[string]string{
				"tenant_id": "(SELECT id FROM tenants)", "state": "'DISABLED'", "erase_after": "$old", "actor_kind": "'SYSTEM'",
			}, calls: true},
		},
		identity.Catalog: {
			answer(), catalog,
			{work: "maintenance", keep: 30 * day, table: "reservations", values: map[string]string{
				"expires_at": "$old", "state": "'RELEASED'", "units": "0", "reservation_key": "'x'",
			}},
			{work: "maintenance", table: "campaigns", stays: "status = 'ACTIVE'", values: map[string]string{
				"expires_at": "$old", "status": "'ACTIVE'", "name": "'Summer'",
			}},
		},
		identity.Orders: {
			answer(), orders,
			{
				work: "retention", setting: "GIFTING_DETAILS_RETENTION", table: "orders", values: order("'COMPLETED'"),
				stays: "status = 'COMPLETED' AND details_erased_at IS NULL",
			},
			{
				work: "retention", setting: "GIFTING_OPEN_RETENTION", table: "orders", values: order("'SENT'"),
				stays: "status = 'SENT' AND details_erased_at IS NULL",
			},
			{work: "reservation outcomes", keep: 90 * day, table: "reservation_outcomes", values: map[string]string{
				"outcome": "'ABANDONED'", "decided_at": "$old",
			}},
		},
		identity.PersonalLinks: {
			answer(),
			{
				work: "retention", setting: "GIFTING_DETAILS_RETENTION", table: "links",
				stays:  "status = 'CANCELLED' AND details_sealed IS NOT NULL",
				values: link(map[string]string{"status": "'CANCELLED'", "cancelled_at": "$old"}),
			},
			{
				work: "retention", setting: "GIFTING_UNCLAIMED_RETENTION", table: "links",
				stays:  "status = 'ACTIVE' AND details_sealed IS NOT NULL",
				values: link(map[string]string{"status": "'ACTIVE'"}),
			},
			{work: "retention", table: "form_drafts", values: map[string]string{"expires_at": "$old", "nonce_hash": "sha256('x')"}},
		},
		identity.Events: {{
			work: "feed maintenance", setting: "GIFTING_FEED_RETENTION", keep: day, table: "feed",
			values: map[string]string{"day": "$old"},
		}},
		identity.Webhook: {answer(), {
			work: "retention", setting: "GIFTING_WEBHOOK_LOG_RETENTION", table: "deliveries",
			values: map[string]string{"state": "'DELIVERED'", "created_at": "$old", "finished_at": "$old"},
		}},
	}
}

// notByAge is periodic work that nothing gets old for, and settings that are not for periodic work of services.
var notByAge = []string{
	"erasures", "retention clock", "seal keys", "versions", "reservations", "claims",
	"GIFTING_KAFKA_RETENTION",
	"GIFTING_BACKUP_RETENTION", // Only named in reports.
	"GIFTING_OUTBOX_RETENTION", // For the relay: TestConfirmedRowsAreKeptForATime in services/events/internal/relay.
}

// Every retention goes by the retention clock, so a clock of a database that jumps ahead makes nothing old. The rows are compared
// with the list of periodic work, so that none is forgotten.
func TestAClockThatIsFarAheadErasesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range programs.All() {
		if p.Database == "" {
			continue
		}
		rows := agedRows()[p.Name]
		t.Run(string(p.Name), func(t *testing.T) {
			t.Parallel()
			requireComplete(t, p, rows)
			i := newInstance(t, p)
			for _, r := range rows {
				i.insert(t, r)
			}
			outcomes := i.work(t, ahead)
			for _, r := range rows {
				require.Equal(t, succeeded, outcomes[r.work], r.work)
				require.True(t, i.stays(t, r), "%s did not wait for the retention clock: %s %s", r.work, r.table, r.setting)
			}
			if p.Name == identity.Tenants {
				i.exec(t, "UPDATE offboardings SET next_attempt_at = now()")
			}
			outcomes = i.work(t, 0)
			for _, r := range rows {
				acted := !i.stays(t, r)
				if r.calls {
					acted = outcomes[r.work] != succeeded
				}
				require.True(t, acted, "%s did not act, so this test shows nothing: %s %s", r.work, r.table, r.setting)
			}
		})
	}
}

func requireComplete(t *testing.T, p programs.Program, rows []agedRow) {
	t.Helper()
	known := slices.Clone(notByAge)
	for _, r := range rows {
		known = append(known, r.work, r.setting)
	}
	require.Subset(t, known, p.Periodic, "add a row that the work finds old enough")
	for variable := range p.Settings {
		if strings.HasSuffix(variable, "_RETENTION") {
			require.Contains(t, known, variable, "add a row that is kept for so long")
		}
	}
}

// instance is a program with its own database. What it calls does not run.
type instance struct {
	programs.Program

	env map[string]string
	db  *pgx.Conn
}

func newInstance(t *testing.T, p programs.Program) *instance {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "changes"))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	ring := "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	values := map[string]string{
		"GRPC_ADDR": "127.0.0.1:0", "METRICS_ADDR": "127.0.0.1:0", "LAME_DUCK": "0s", "ENVIRONMENT": "sandbox",
		"DATABASE_URL": pgtest.NewURL(t), "REDIS_URL": testenv.Require(t, testenv.RedisURL), "KAFKA_BROKERS": cluster.ListenAddrs()[0],
		"KAFKA_TOPIC": "changes", "SEAL_KEYS": ring, "EVENT_KEYS": ring, "CLAIM_URL": "http://localhost/c",
		"IMAGES_URL": "file://" + t.TempDir(), "PUBLIC_URL": "http://localhost",
		"OPENING_HOURS": "Mon-Fri 09:00-17:00", "OPENING_ZONE": "UTC", "OUTBOX_SOURCES": "orders=" + pgtest.NewURL(t),
	}
	for _, other := range programs.All() {
		values[other.PeerSetting()] = "127.0.0.1:1"
	}
	i := &instance{Program: p, env: map[string]string{}}
	for name, value := range values {
		if _, known := p.Settings["GIFTING_"+name]; known {
			i.env["GIFTING_"+name] = value
		}
	}
	require.NoError(t, p.Migrate(t.Context(), i.env))
	i.db, err = pgx.Connect(t.Context(), values["DATABASE_URL"])
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, i.db.Close(context.WithoutCancel(t.Context()))) })
	if p.Name == identity.Tenants {
		i.exec(t, `INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
VALUES (gen_random_uuid(), 'T', '{en-US}', 'SEK', false, true)`)
	}
	return i
}

func (i *instance) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := i.db.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

const needed = `SELECT column_name::text, data_type::text FROM information_schema.columns
WHERE table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'`

// anyValue is a value of each type that columns without a default have.
var anyValue = map[string]string{
	"uuid": "gen_random_uuid()", "text": "gen_random_uuid()::text", "bytea": "'x'", "integer": "1", "bigint": "1", "boolean": "false",
	"timestamp with time zone": "now()", "jsonb": "'{}'", "ARRAY": "'{}'", "date": "now()",
}

// insert inserts a row that became old an hour ago.
func (i *instance) insert(t *testing.T, r agedRow) {
	t.Helper()
	keep := r.keep
	if r.setting != "" {
		set, err := time.ParseDuration(i.Settings[r.setting].Default)
		require.NoError(t, err)
		keep += set
	}
	old := fmt.Sprintf("(now() - interval '%d seconds')", int((keep + time.Hour).Seconds()))
	values := maps.Clone(r.values)
	rows, err := i.db.Query(t.Context(), needed, r.table)
	require.NoError(t, err)
	var column, kind string
	_, err = pgx.ForEachRow(rows, []any{&column, &kind}, func() error {
		if values[column] == "" {
			require.Contains(t, anyValue, kind, "%s.%s", r.table, column)
			values[column] = anyValue[kind]
		}
		return nil
	})
	require.NoError(t, err)
	if r.table == "feed" {
		i.exec(t, strings.ReplaceAll(feedDay, "$old", old))
	}
	columns := slices.Sorted(maps.Keys(values))
	list := make([]string, len(columns))
	for n, column := range columns {
		list[n] = strings.ReplaceAll(values[column], "$old", old)
	}
	i.exec(t, "INSERT INTO "+r.table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(list, ", ")+")")
}

// feedDay makes the partition of an old day.
const feedDay = `DO $$ BEGIN EXECUTE format('CREATE TABLE %I PARTITION OF feed FOR VALUES FROM (%L) TO (%L)',
  'feed_' || to_char($old AT TIME ZONE 'UTC', 'YYYYMMDD'), $old::date, $old::date + 1); END $$`

func (i *instance) stays(t *testing.T, r agedRow) (stays bool) {
	t.Helper()
	found := i.db.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM "+r.table+" WHERE "+cmp.Or(r.stays, "true")+")")
	require.NoError(t, found.Scan(&stays))
	return stays
}

// succeeded is the outcome of a tick of periodic work.
const succeeded = "succeeded"

// work runs the program while the retention clock is so far behind the database's, until all periodic work was done once. It
// returns how that ended.
func (i *instance) work(t *testing.T, behind time.Duration) (outcomes map[string]string) {
	t.Helper()
	i.exec(t, "UPDATE retention_clock SET at = clock_timestamp() - $1::interval", behind)
	tel := telemetrytest.New()
	program, err := i.Open(t.Context(), i.env, tel.Telemetry)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- program.Run(ctx) }()
	done := func() bool {
		outcomes = map[string]string{}
		for labels := range tel.Values(t, "gifting.periodic.runs") {
			outcome, work, _ := strings.Cut(strings.TrimPrefix(labels, "outcome="), ",work=")
			if outcomes[work] == "" || outcome != succeeded { // Work that failed may have been tried again meanwhile.
				outcomes[work] = outcome
			}
		}
		return len(outcomes) == len(i.Periodic)
	}
	require.Eventually(t, done, time.Minute, 10*time.Millisecond, "%v of %v", &outcomes, i.Periodic)
	stop()
	require.NoError(t, <-ended)
	return outcomes
}
