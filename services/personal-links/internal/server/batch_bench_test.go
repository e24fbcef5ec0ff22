package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// BenchmarkABatchOfAThousand measures the call against the same rows by COPY in one transaction, in
// turns on one database. ratio is the part of COPY's speed that the call reaches.
func BenchmarkABatchOfAThousand(b *testing.B) {
	bench := setup(b)
	recipients := make([]*linksv1.PersonalLinkRecipient, 1000)
	for i := range recipients {
		recipients[i] = &linksv1.PersonalLinkRecipient{
			Label: fmt.Sprintf("Player %d", i), ExternalRecipientId: pointer(fmt.Sprintf("player-%d", i)),
			Email: pointer(fmt.Sprintf("p%d@example.com", i)), Message: pointer("Thank you for ten years with us!"),
		}
	}
	req := bench.toCampaign(recipients...)
	var calls, copies []time.Duration
	for range b.N + 1 {
		begun := time.Now()
		_, err := bench.client.CreatePersonalLinks(bench.post(newID()), req)
		require.NoError(b, err)
		calls, copies = append(calls, time.Since(begun)), append(copies, bench.copyLast(b))
	}
	call, byCopy := median(calls[1:]), median(copies[1:]) // The first warmed up.
	b.ReportMetric(float64(call.Microseconds())/1000, "ms/batch")
	b.ReportMetric(float64(byCopy.Microseconds())/1000, "ms/copy")
	b.ReportMetric(float64(byCopy)/float64(call), "ratio")
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// copied are the tables of a batch with the columns that make a row another one.
var copied = []struct{ table, columns, values string }{
	{
		"link_batches", "tenant_id, id, product_ids, key_id, key_name, created_at",
		"tenant_id, gen_random_uuid(), product_ids, key_id, key_name, created_at",
	},
	{
		"links", `tenant_id, id, brand_id, campaign_id, external_recipient_id, status, claim_url_sealed, created_at, updated_at,
		batch_id, batch_index, locale, token_hash, details_sealed`,
		`tenant_id, gen_random_uuid(), brand_id, campaign_id, external_recipient_id, status, claim_url_sealed, created_at, updated_at,
		md5(batch_id::text)::uuid, batch_index, locale, sha256(token_hash), details_sealed`,
	},
	{
		"outbox", "event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data",
		"gen_random_uuid(), tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data",
	},
	{"idempotency_answers", "key_id, idempotency_key, fingerprint, answer", "key_id, gen_random_uuid()::text, fingerprint, answer"},
}

// copyLast copies the rows of the last batch, as if they were another's, and says how long it took.
func (b *bench) copyLast(t testing.TB) time.Duration {
	t.Helper()
	ctx := t.Context()
	rows := make([][][]any, len(copied))
	for i, c := range copied {
		order := "created_at"
		limit := 1
		switch c.table {
		case "links":
			order, limit = "created_at DESC, batch_index", 1000
		case "outbox":
			order, limit = "id DESC", 1000
		default:
			order += " DESC"
		}
		rows[i] = b.rows(ctx, t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT %d", c.values, c.table, order, limit))
		require.Len(t, rows[i], limit)
	}
	begun := time.Now()
	require.NoError(t, pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		for i, c := range copied {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{c.table}, names(c.columns), pgx.CopyFromRows(rows[i])); err != nil {
				return err
			}
		}
		return nil
	}))
	return time.Since(begun)
}

func (b *bench) rows(ctx context.Context, t testing.TB, sql string) [][]any {
	t.Helper()
	found, err := b.pool.Query(ctx, sql)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	require.NoError(t, err)
	return all
}

func names(columns string) (out []string) {
	for name := range strings.SplitSeq(columns, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}
