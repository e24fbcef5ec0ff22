package bench_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	connections = 200
	// largeBody is just below the largest body that the API accepts.
	largeBody = 10<<20 - 1<<10
	// chartMemory is what the chart sets as the gateway's GOMEMLIMIT, 90 % of its limit of 512 MiB.
	chartMemory = "460MiB"
)

// BenchmarkBesideLargeBodies measures how fast a tenant reads orders while the keys of others send bodies of 10 MB over 200
// connections, against the time without them in the same run, and the most memory that the gateway ever had. A body is one long
// text or a list of a million small items.
func BenchmarkBesideLargeBodies(b *testing.B) {
	f := &ordersFixture{}
	var senderKeys []*keyring
	fixture.Prepare(b, func(p *fixture.Platform) {
		f.Platform = p
		f.use(b, p.NewTenant(b))
		for range 10 {
			senderKeys = append(senderKeys, newKeyringOf(b, p.NewTenant(b), 2))
		}
	})
	f.Programs["gateway"]["GOMEMLIMIT"] = chartMemory
	running := launch(b, f.Platform)
	orders := f.placeMany(b)
	reads := func() fixture.Latencies {
		took, _, _ := f.atRate(b, 200, 10*time.Second, func(by *client) error {
			_, err := by.get("/orders/" + orders.next())
			return err
		})
		return took
	}
	var alone, beside fixture.Latencies
	var answers map[int]int
	fixture.Once(b, func() {
		alone = reads()
		ctx, stop := context.WithCancel(b.Context())
		large := sendLargeBodies(ctx, b, f.Env["GIFTING_URL"]+"/orders", senderKeys)
		beside = reads()
		stop()
		answers = large.wait()
	})
	for i, p := range running {
		if p.name == "gateway" {
			b.ReportMetric(memory(b, running, "VmHWM")[i], "gateway-MB")
		}
	}
	b.ReportMetric(alone.At(.99), "p99-ms-without")
	b.ReportMetric(beside.At(.99), "p99-ms-with")
	b.ReportMetric(beside.At(.99)/alone.At(.99), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; answers to large bodies by status: %v", alone, beside, answers)
	require.NotZero(b, answers[http.StatusBadRequest], "the gateway read no large body")
}

// largeBodies are connections that send them.
type largeBodies struct {
	group sync.WaitGroup

	lock    sync.Mutex
	answers map[int]int
}

// sendLargeBodies sends over each connection one body after another until the context ends. A refused connection waits as long as
// the answer says.
func sendLargeBodies(ctx context.Context, b *testing.B, url string, keys []*keyring) *largeBodies {
	b.Helper()
	l := &largeBodies{answers: map[int]int{}}
	bodies := []string{
		`{"externalOrderId":"` + strings.Repeat("x", largeBody) + `"}`,
		`{"items":[{}` + strings.Repeat(",{}", largeBody/3) + `]}`,
	}
	for i := range connections {
		of := keys[i%len(keys)]
		key, err := of.take()
		require.NoError(b, err)
		of.giveBack(key)
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		l.group.Go(func() {
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				status, wait := sendLargeBody(ctx, client, url, key, bodies[i%len(bodies)])
				l.count(status)
				select {
				case <-ctx.Done():
				case <-time.After(wait):
				}
			}
		})
	}
	return l
}

func (l *largeBodies) count(status int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.answers[status]++
}

// wait waits for all connections to end and returns the number of answers by status; 0 is a connection that broke.
func (l *largeBodies) wait() map[int]int {
	l.group.Wait()
	return l.answers
}

// sendLargeBody returns the status of the answer, or 0 without one, and how long to wait before the next request.
func sendLargeBody(ctx context.Context, client *http.Client, url, key, body string) (status int, wait time.Duration) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, time.Second
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", uuid.NewString())
	res, err := client.Do(req)
	if err != nil { // The gateway closes the connection of a body that it does not read.
		return 0, time.Second
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, time.Duration(seconds) * time.Second
}
