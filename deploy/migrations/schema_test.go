package migrations_test

import (
	"context"
	"encoding/base64"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// What a column of bytes holds.
const (
	// The ring of GIFTING_SEAL_KEYS opens it. It is re-encrypted.
	sealed = "sealed"
	// Members of events, which the ring of GIFTING_EVENT_KEYS opens. They are not re-encrypted, but deleted.
	events = "events"
	// A hash, MAC or key of a record, which nothing opens.
	digest = "digest"
	// Answers that other services store in plain text. They have no personal data, no claim URL and no signing secret.
	plain = "plain"
	// Messages and responses as they came, which are never opened.
	foreign = "foreign"
)

// columns lists the columns of bytes, and those that are named as if they were sealed, in the databases of all programs.
var columns = map[string]map[string]string{
	"catalog": {
		"idempotency_answers.answer":      plain,
		"idempotency_answers.fingerprint": digest,
		"skus.variations_key":             digest,
		"reservations.reservation_key":    digest,
	},
	"events": {"feed.data": events},
	"links": {
		"idempotency_answers.answer":      sealed,
		"idempotency_answers.fingerprint": digest,
		"form_drafts.draft_sealed":        sealed,
		"form_drafts.nonce_hash":          digest,
		"links.claim_url_sealed":          sealed,
		"links.details_sealed":            sealed,
		"links.reason_sealed":             sealed,
		"links.token_hash":                digest,
		"outbox.data":                     events,
	},
	"orders": {
		"idempotency_answers.answer":      plain,
		"idempotency_answers.fingerprint": digest,
		"order_messages.body_sealed":      sealed,
		"orders.details_sealed":           sealed,
		"outbox.data":                     events,
	},
	"tenants": {
		"api_keys.hash":                    digest,
		"api_keys.previous_webhook_secret": sealed,
		"api_keys.webhook_secret":          sealed,
		"idempotency_answers.answer":       plain,
		"idempotency_answers.fingerprint":  digest,
		"person_requests.recipient_sealed": sealed,
		"person_requests.subject_mac":      digest,
	},
	"webhook": {
		"attempts.response_body":          foreign,
		"events.body":                     events,
		"idempotency_answers.answer":      plain,
		"idempotency_answers.fingerprint": digest,
		"rejected_messages.value":         foreign,
	},
}

// A new column of bytes must be named above. If it is sealed, its keys must be checked at start and periodically, and package
// seal refuses a re-encryption that leaves one of these out.
func TestEverySealedColumnIsChecked(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, p programs.Program, env map[string]string) {
		t.Helper()
		require.ElementsMatch(t, slices.Collect(maps.Keys(columns[p.Database])), columnsOfBytes(t, env["GIFTING_DATABASE_URL"]),
			"say in this test what each column holds")
		var want []string
		for column, holds := range columns[p.Database] {
			if holds == sealed || holds == events {
				want = append(want, column)
			}
		}
		require.ElementsMatch(t, want, checked(t, p, env))
	})
}

func TestTheRunbookNamesEverySealedColumn(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../runbooks/sealed-data.md")
	require.NoError(t, err)
	var want, named []string
	for _, list := range columns {
		for column, holds := range list {
			if holds == sealed || holds == events {
				want = append(want, column)
			}
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(string(page), -1) {
		named = append(named, strings.Split(strings.Trim(row[1], "`"), "`, `")...)
	}
	slices.Sort(want)
	require.ElementsMatch(t, slices.Compact(want), named)
}

// eachDatabase runs a test with the migrated database of each program, and the program's settings.
func eachDatabase(t *testing.T, test func(t *testing.T, p programs.Program, env map[string]string)) {
	t.Helper()
	for _, p := range programs.All() {
		if p.Database == "" {
			continue
		}
		t.Run(string(p.Name), func(t *testing.T) {
			t.Parallel()
			env := environment(t, p)
			require.NoError(t, p.Migrate(t.Context(), env))
			test(t, p, env)
		})
	}
}

// environment has all required settings of the program.
func environment(t *testing.T, p programs.Program) map[string]string {
	t.Helper()
	ring := "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	known := map[string]string{
		"GIFTING_DATABASE_URL": pgtest.NewURL(t), "GIFTING_SEAL_KEYS": ring, "GIFTING_EVENT_KEYS": ring,
		"GIFTING_KAFKA_BROKERS": "127.0.0.1:1", "GIFTING_OUTBOX_SOURCES": "orders=postgres://127.0.0.1:1/x",
		"GIFTING_CLAIM_URL": "https://gifts.example.com/c", "GIFTING_PUBLIC_URL": "https://api.example.com",
		"GIFTING_IMAGES_URL": "file://" + t.TempDir(), "GIFTING_ENVIRONMENT": "production",
	}
	env := map[string]string{}
	for _, field := range p.Fields {
		if !field.Required {
			continue
		}
		value := known[field.Variable]
		if strings.HasSuffix(field.Variable, "_ADDR") {
			value = "127.0.0.1:1"
		}
		require.NotEmpty(t, value, field.Variable)
		env[field.Variable] = value
	}
	return env
}

func columnsOfBytes(t *testing.T, database string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(), `
SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND a.attnum > 0 AND NOT a.attisdropped
  AND (a.atttypid = 'bytea'::regtype OR a.attname ~ 'seal|secret|cipher|encrypt')`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return found
}

// checked lists the columns whose keys the program checks.
func checked(t *testing.T, p programs.Program, env map[string]string) (found []string) {
	t.Helper()
	tel := telemetrytest.New()
	runner, err := p.Open(t.Context(), env, tel.Telemetry)
	require.NoError(t, err)
	measured := tel.Values(t, "gifting.seal.keys.unusable")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_ = runner.Run(ctx) // It closes the program.
	for labels := range measured {
		if column, missing := strings.CutSuffix(strings.TrimPrefix(labels, "column="), ",reason=missing"); missing {
			found = append(found, column)
		}
	}
	return found
}

// Why tables have no tenant_id.
const (
	shared  = "all tenants share it"
	byKey   = "the ids of API keys are unique over all installations, and a tenant's rows are those of its keys"
	partOf  = "how far a partition of the topic has been read"
	ofState = "the state of the database itself"
)

// withoutTenant lists the tables without tenant_id, in the databases of all programs.
var withoutTenant = map[string]map[string]string{
	"catalog": {
		"categories": shared, "exchange_rates": shared, "image_renditions": shared, "images": shared, "product_prices": shared,
		"products": shared, "region_countries": shared, "regions": shared, "subcategories": shared,
		"idempotency_answers": byKey, "retention_clock": ofState,
	},
	"events": {"feed_writers": partOf, "feed_topic": partOf, "feed_epochs": ofState, "retention_clock": ofState},
	"links":  {"idempotency_answers": byKey, "retention_clock": ofState},
	"orders": {"idempotency_answers": byKey, "retention_clock": ofState},
	"tenants": {
		"tenants": "its id is the tenant's", "cells": "all tenants of a cell share it", "idempotency_answers": byKey,
		"database_server": ofState, "retention_clock": ofState,
	},
	"webhook": {
		"fan_out_offsets": partOf, "rejected_messages": "they belong to no tenant", "senders": "a sender serves all tenants",
		"idempotency_answers": byKey, "retention_clock": ofState,
	},
}

// selectTenantKeys reads each table of a database, whether it has tenant_id, and whether its primary key or replica identity has
// it.
const selectTenantKeys = `SELECT c.relname, a.attnum IS NOT NULL,
  a.attnum IS NOT NULL AND (c.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid
    AND (i.indisprimary AND c.relreplident = 'd' OR i.indisreplident) AND a.attnum = ANY (i.indkey)))
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname !~ '^migrations_'`

// Logical replication copies the rows of one tenant, and follows their changes, only if tenant_id is in the primary key or the
// replica identity. A table with neither also refuses every UPDATE and DELETE while it is published.
func TestEveryRowOfATenantIsNamedByIt(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, p programs.Program, env map[string]string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), env["GIFTING_DATABASE_URL"])
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		rows, err := conn.Query(t.Context(), selectTenantKeys)
		require.NoError(t, err)
		var without []string
		var table string
		var hasTenant, named bool
		_, err = pgx.ForEachRow(rows, []any{&table, &hasTenant, &named}, func() error {
			if !hasTenant {
				without = append(without, table)
			}
			require.Equal(t, hasTenant, named, "%s: neither its primary key nor its replica identity has tenant_id", table)
			return nil
		})
		require.NoError(t, err)
		expected := slices.Collect(maps.Keys(withoutTenant[p.Database]))
		require.ElementsMatch(t, expected, without, "give the table tenant_id, or a reason here")
	})
}
