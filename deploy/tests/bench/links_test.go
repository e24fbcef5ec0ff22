package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/postgres"
	personallinks "github.com/partnergifting/platform/services/personal-links"
)

const (
	linksOfBatch = 1000
	// batches are created by each side; the first one is the warm-up.
	batches      = 16
	shortBatches = 6
)

// keepOutbox copies the rows that a batch appends, because the relay soon empties the outbox.
const keepOutbox = `CREATE TABLE kept AS SELECT * FROM outbox WITH NO DATA;
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO kept SELECT NEW.*; RETURN NULL; END$$;
CREATE TRIGGER keep AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION keep()`

// copied selects the rows of the template as rows of another batch; $1 makes their ids different each time.
var copied = []struct{ table, columns, rows string }{
	{
		"link_batches", "tenant_id, id, product_ids, key_id, key_name, created_at",
		"SELECT tenant_id, md5(id::text || $1)::uuid, product_ids, key_id, key_name, created_at FROM link_batches",
	},
	{
		"links", `tenant_id, id, brand_id, campaign_id, external_recipient_id, status, claim_url_sealed, created_at, updated_at,
  batch_id, batch_index, locale, token_hash, details_sealed`,
		`SELECT tenant_id, md5(id::text || $1)::uuid, brand_id, campaign_id, external_recipient_id, status, claim_url_sealed, created_at,
  updated_at, md5(batch_id::text || $1)::uuid, batch_index, locale, sha256(token_hash || $1::bytea), details_sealed
FROM links ORDER BY batch_index`,
	},
	{
		"outbox", "event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent",
		`SELECT md5(event_id::text || $1)::uuid, tenant_id, brand_id, md5(subject_id::text || $1)::uuid, type, origin_key_id, occurred_at,
  data, traceparent FROM kept ORDER BY id`,
	},
	{
		"idempotency_answers", "key_id, idempotency_key, fingerprint, answer",
		"SELECT key_id, idempotency_key || $1, fingerprint, answer FROM idempotency_answers",
	},
}

// BenchmarkBatchOfLinks alternates between creating batches of a thousand links through the gateway and writing the same rows
// by COPY in one transaction to another database with the same schema on the same server.
func BenchmarkBatchOfLinks(b *testing.B) {
	p := fixture.Start(b)
	db := p.Connect(b, "links")
	edge := p.NewClient(b, fixture.KeyringOf(p.Env["GIFTING_KEY"]))
	template := newTemplate(b, db, edge, p.Env["GIFTING_CAMPAIGN_ID"])
	copies := fixture.Connect(b, fixture.CreateDatabase(b, "copy_"+p.Database("links"), func(url string) error {
		return personallinks.Program().Migrate(b.Context(), personallinks.Config{Database: postgres.Config{URL: url}}, io.Discard)
	}))
	var byEdge, byCopy []float64
	created := batches
	if testing.Short() {
		created = shortBatches
	}
	fixture.Once(b, func() {
		for i := range created {
			began := time.Now()
			_, err := edge.Post("/personal-links:create-batch", fmt.Sprintf("batch-%d", i), template.body, http.StatusOK)
			require.NoError(b, err)
			byEdge = append(byEdge, fixture.Milliseconds(time.Since(began)))
			fixture.AwaitEmptyOutbox(b, db)
			byCopy = append(byCopy, fixture.Milliseconds(template.copyTo(b, copies, fmt.Sprint(i))))
		}
	})
	byEdge, byCopy = byEdge[1:], byCopy[1:]
	b.ReportMetric(fixture.Median(byEdge), "edge-ms/batch")
	b.ReportMetric(fixture.Median(byCopy), "copy-ms/batch")
	b.ReportMetric(fixture.MedianRatio(byCopy, byEdge), "copy/edge")
}

// template is a batch that was created once.
type template struct {
	body string
	rows *pgx.Conn
}

// newTemplate creates a batch in a database that has none, and keeps the rows that it wrote.
func newTemplate(b *testing.B, db *pgx.Conn, edge *fixture.Client, campaign string) template {
	b.Helper()
	recipients := make([]string, linksOfBatch)
	for i := range recipients {
		recipients[i] = fmt.Sprintf(`{"label": "Player %d", "externalRecipientId": "player-%d", "email": "p%d@example.com",
  "message": "Thank you for ten years with us!"}`, i, i, i)
	}
	t := template{rows: db, body: fmt.Sprintf(`{"campaignId": %q, "recipients": [%s]}`, campaign, strings.Join(recipients, ","))}
	for _, table := range []string{"links", "link_batches", "idempotency_answers"} {
		_, err := db.Exec(b.Context(), "DELETE FROM "+table) // These are rows of the demo.
		require.NoError(b, err)
	}
	_, err := db.Exec(b.Context(), keepOutbox)
	require.NoError(b, err)
	_, err = edge.Post("/personal-links:create-batch", "template", t.body, http.StatusOK)
	require.NoError(b, err)
	for _, c := range copied { // Rows of later batches are not part of the template.
		source := c.table
		if source == "outbox" {
			source = "kept"
			_, err = db.Exec(b.Context(), "DROP TRIGGER keep ON outbox")
			require.NoError(b, err)
		}
		_, err = db.Exec(b.Context(), "CREATE TEMPORARY TABLE template_"+c.table+" AS SELECT * FROM "+source)
		require.NoError(b, err)
	}
	fixture.AwaitEmptyOutbox(b, db)
	return t
}

// copyTo writes the template's rows and returns how long it took.
func (t *template) copyTo(b *testing.B, to *pgx.Conn, different string) time.Duration {
	b.Helper()
	rows := make([][][]any, len(copied))
	for i, c := range copied {
		from := strings.NewReplacer("FROM kept", "FROM template_outbox", "FROM ", "FROM template_").Replace(c.rows)
		found, err := t.rows.Query(b.Context(), from, different)
		require.NoError(b, err)
		rows[i], err = pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		require.NoError(b, err)
		require.Contains(b, []int{1, linksOfBatch}, len(rows[i]), c.table)
	}
	began := time.Now()
	require.NoError(b, pgx.BeginFunc(b.Context(), to, func(tx pgx.Tx) error {
		for i, c := range copied {
			columns := strings.FieldsFunc(c.columns, func(r rune) bool { return strings.ContainsRune(", \n", r) })
			if _, err := tx.CopyFrom(b.Context(), pgx.Identifier{c.table}, columns, pgx.CopyFromRows(rows[i])); err != nil {
				return err
			}
		}
		return nil
	}))
	return time.Since(began)
}
