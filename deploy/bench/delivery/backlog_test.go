package delivery_test

import (
	"bytes"
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

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	backlog   = 20_000
	endpoints = 100
	senders   = 64
	// connections is how many connections a benchmark has to a database.
	connections = 16

	backlogTimeout = 3 * time.Minute
)

// text fills a body up to the length of an order's event.
var text = strings.Repeat("x", 700)

// event is the body of every delivery of a backlog.
var event = []byte(`{"id":"01900000-0000-7000-8000-000000000001","type":"order.created","data":{"text":"` + text + `"}}`)

// The statements that make a whole backlog with one commit.
const (
	fillDeliveries = `WITH made AS (
  INSERT INTO events (tenant_id, event_id, type, body, created_at)
  SELECT ($1::uuid[])[1 + n % $4], gen_random_uuid(), 'order.created', $3, now() FROM generate_series(1, $5::int) AS n
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
	benchmarkBacklog(b, false, func(p *platform, tenants []tenant) {
		var ids []string
		var keys []int32
		for _, t := range tenants {
			ids, keys = append(ids, t.ID), append(keys, t.key)
		}
		_, err := p.Pool(b, "webhook", connections).Exec(b.Context(), fillDeliveries, ids, keys, event, len(tenants), backlog)
		require.NoError(b, err)
	})
}

// BenchmarkBacklogOfChanges starts with a backlog in the outbox of the orders service, so it includes relay, Kafka, feed and
// fan-out.
func BenchmarkBacklogOfChanges(b *testing.B) {
	benchmarkBacklog(b, true, func(p *platform, tenants []tenant) {
		var ids, brands []string
		for _, t := range tenants {
			ids, brands = append(ids, t.ID), append(brands, t.Brand)
		}
		_, err := p.Pool(b, "orders", connections).Exec(b.Context(), fillOutbox, ids, brands, event, len(tenants), backlog)
		require.NoError(b, err)
	})
}

// With relay, benchmarkBacklog also reports how fast the relay emptied the outbox.
func benchmarkBacklog(b *testing.B, relay bool, fill func(*platform, []tenant)) {
	b.Helper()
	p, r := newFixture(b), newReceiver(b, false)
	urls := r.urls(endpoints)
	tenants := p.tenants(b, urls)
	m := p.NewMeter(b)
	var bare, ours, relayed float64
	var used fixture.Usage
	fixture.Once(b, func() {
		bare = perSecond(func() { postBare(b, urls, tenants) })
		r.got.Store(0)
		var emptied <-chan time.Duration
		used = m.During(b, func() {
			fill(p, tenants)
			emptied = p.watchOutbox(b)
			require.Eventually(b, func() bool { return r.got.Load() > 0 }, arrivalTimeout, time.Millisecond)
			ours = perSecond(func() {
				require.Eventually(b, func() bool { return r.got.Load() >= backlog }, backlogTimeout, time.Millisecond)
			})
		})
		relayed = backlog / (<-emptied).Seconds()
	})
	if relay {
		b.ReportMetric(relayed, "relayed/s")
	}
	b.ReportMetric(bare, "bare/s")
	b.ReportMetric(ours, "delivered/s")
	b.ReportMetric(ours/bare, "ratio")
	const thousands = backlog / 1000
	b.ReportMetric(used.Sum().Seconds()/thousands, "cpu-s/1000")
	b.ReportMetric(used.Platform.Seconds()/thousands, "cpu-s/1000-platform")
	b.ReportMetric(used.Database.Seconds()/thousands, "cpu-s/1000-database")
	b.ReportMetric(used.Broker.Seconds()/thousands, "cpu-s/1000-broker")
	b.ReportMetric(fixture.Load(b), "load")
}

// watchOutbox sends the time until the outbox of the orders service is empty.
func (p *platform) watchOutbox(b *testing.B) <-chan time.Duration {
	b.Helper()
	emptied, pool, began := make(chan time.Duration, 1), p.Pool(b, "orders", connections), time.Now()
	go func() {
		left := true
		for left && b.Context().Err() == nil {
			<-time.After(pollInterval)
			if err := pool.QueryRow(b.Context(), `SELECT EXISTS (SELECT FROM outbox)`).Scan(&left); err != nil {
				b.Errorf("look at the outbox: %v", err)
				break
			}
		}
		emptied <- time.Since(began)
	}()
	return emptied
}

func perSecond(work func()) float64 {
	began := time.Now()
	work()
	return backlog / time.Since(began).Seconds()
}

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
				if err := post(b, client, urls[to], tenants[to].secret); err != nil {
					b.Errorf("bare post: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
}

func post(b *testing.B, client *http.Client, url, secret string) error {
	b.Helper()
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(append([]byte(now+"."), event...))
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(event))
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
