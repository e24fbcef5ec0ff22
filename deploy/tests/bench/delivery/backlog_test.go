package delivery_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

const (
	backlog   = 20_000
	endpoints = 100
	senders   = 64
	// connections is how many connections a benchmark has to a database.
	connections = 16

	backlogTimeout = 3 * time.Minute

	webhook = "webhook"
)

// text fills a body up to the length of an order's event.
var text = strings.Repeat("x", 700)

// event is the body of every delivery of a backlog.
var event = []byte(`{"id":"01900000-0000-7000-8000-000000000001","type":"order.created","data":{"text":"` + text + `"}}`)

// The statements that make a whole backlog with one commit.
const (
	fillDeliveries = `WITH made AS (
  INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT ($1::uuid[])[1 + n % $4], gen_random_uuid(), 'order.created', gen_random_uuid(), gen_random_uuid(), $3, now()
  FROM generate_series(1, $5::int) AS n
  RETURNING tenant_id, event_id
)
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at)
SELECT made.tenant_id, made.event_id, key_id, now(), now()
FROM made JOIN unnest($1::uuid[], $2::int[]) AS k (tenant_id, key_id) USING (tenant_id)`

	fillOutbox = `INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data)
SELECT gen_random_uuid(), ($1::uuid[])[1 + n % $4], ($2::uuid[])[1 + n % $4], gen_random_uuid(), 'order.created', now(), $3
FROM generate_series(1, $5::int) AS n`
)

// BenchmarkBacklogOfDeliveries measures how fast the webhook service delivers a backlog, compared with goroutines that only
// sign and post the same bodies in the same run.
func BenchmarkBacklogOfDeliveries(b *testing.B) {
	benchmarkBacklog(b, webhook, fillDeliveries, func(tenants []tenant) []any {
		ids, keys := idsAndKeys(tenants)
		return []any{ids, keys, event, len(tenants), backlog}
	})
}

// BenchmarkBacklogOfChanges starts with a backlog in the outbox of the orders service, so it includes relay, Kafka, feed and
// fan-out.
func BenchmarkBacklogOfChanges(b *testing.B) {
	benchmarkBacklog(b, "orders", fillOutbox, func(tenants []tenant) []any {
		var ids, brands []string
		for _, t := range tenants {
			ids, brands = append(ids, t.ID), append(brands, t.Brand)
		}
		return []any{ids, brands, event, len(tenants), backlog}
	})
}

// backlogs is how often a backlog is delivered; the results are medians.
func backlogs() int {
	if testing.Short() {
		return 1
	}
	return 5
}

// benchmarkBacklog fills a table of a service with one statement, and waits until everything has arrived and the outbox is
// empty. The rate counts from the commit to the last arrival. Deliveries that were stored without the service are only found by
// its next search, within five seconds, so their rate counts from the first arrival.
func benchmarkBacklog(b *testing.B, service, fill string, args func([]tenant) []any) {
	b.Helper()
	r := fixture.NewReceiver(b)
	urls := r.URLs(endpoints)
	p, tenants := newFixture(b, urls)
	m, pool, outbox := p.NewMeter(b), p.Pool(b, service, connections), p.Connect(b, "orders")
	var bare, ours, used []float64
	fixture.Once(b, func() {
		for range backlogs() {
			began := time.Now()
			postBare(b, urls, tenants)
			bare = append(bare, backlog/time.Since(began).Seconds())
			r.Empty(b)
			var took time.Duration
			of := m.During(b, func() {
				_, err := pool.Exec(b.Context(), fill, args(tenants)...)
				require.NoError(b, err)
				began := time.Now()
				require.Eventually(b, func() bool { return r.Count(b).Count >= backlog }, backlogTimeout, backlogPoll)
				if service == webhook {
					began = r.Count(b).First
				}
				took = r.Count(b).Last.Sub(began)
				fixture.AwaitEmptyOutbox(b, outbox)
			})
			ours, used = append(ours, backlog/took.Seconds()), append(used, of.Sum().Seconds()/thousands)
			b.Logf("%.0f/s of %.0f/s; CPU %s", backlog/took.Seconds(), bare[len(bare)-1], of)
		}
	})
	b.ReportMetric(fixture.Median(bare), "bare/s")
	b.ReportMetric(fixture.Median(ours), "delivered/s")
	b.ReportMetric(fixture.MedianRatio(ours, bare), "ratio")
	b.ReportMetric(fixture.Median(used), "cpu-s/1000")
	b.ReportMetric(fixture.Load(b), "load")
}

const (
	thousands = backlog / 1000
	// backlogPoll is rare enough to take no processor time from what is measured.
	backlogPoll = 20 * time.Millisecond
)

// postBare does only what every sender must do: sign, post and read the response.
func postBare(b *testing.B, urls []string, tenants []tenant) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for n := next.Add(1); n <= backlog; n = next.Add(1) {
				to := int(n) % len(urls)
				if err := post(b.Context(), client, urls[to], tenants[to].secret, event); err != nil {
					b.Errorf("bare post: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
}

// post signs and posts a body, and reads the response.
func post(ctx context.Context, client *http.Client, url, secret string, body []byte) error {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(append([]byte(now+"."), body...))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Service-Signature", "t="+now+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
