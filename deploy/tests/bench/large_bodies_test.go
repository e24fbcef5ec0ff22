package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
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
	requireDeployed(b)
	var senderKeys []string
	f := deployOrders(b, func(p *fixture.Platform) {
		for range 10 {
			created, err := p.NewTenant(b).NewKey(b.Context(), "")
			require.NoError(b, err)
			senderKeys = append(senderKeys, created.GetApiKey())
		}
		p.Programs["gateway"]["GOMEMLIMIT"] = chartMemory
	})
	orders := f.placeMany(b)
	reads := func() fixture.Latencies { return f.readAtRate(b, orders) }
	var alone, beside fixture.Latencies
	var answers map[int]int
	fixture.Once(b, func() {
		alone = reads()
		end := startSenders(b, f.Env["GIFTING_URL"]+"/orders", senderKeys)
		beside = reads()
		answers = end()
	})
	b.ReportMetric(f.Of(b, "gateway").Memory(b, fixture.MostResident), "gateway-MB")
	b.ReportMetric(alone.At(.99), "p99-ms-without")
	b.ReportMetric(beside.At(.99), "p99-ms-with")
	b.ReportMetric(beside.At(.99)/alone.At(.99), "with/without")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("without: %s; with: %s; answers to large bodies by status: %v", alone, beside, answers)
	require.NotZero(b, answers[http.StatusBadRequest], "the gateway read no large body")
}

// readAtRate returns the latencies of reads, counted from the times when they were due and sorted from short to long.
func (f *ordersFixture) readAtRate(b *testing.B, orders *cycle) (latencies fixture.Latencies) {
	b.Helper()
	const perSecond = 200
	var lock sync.Mutex
	clients := f.NewClients(b)
	fixture.AtRate(b, perSecond, fixture.MeasuredTime(perSecond), func(call fixture.Call) error {
		err := clients.Use(f.keys, func(c *fixture.Client) error {
			_, err := c.Get("/orders/" + orders.next())
			return err
		})
		if call.Measured {
			lock.Lock()
			defer lock.Unlock()
			latencies = append(latencies, time.Since(call.Due))
		}
		return err
	})
	slices.Sort(latencies)
	return latencies
}

// sendersOf has the URL and then the keys of senders. A process with it sends large bodies until its standard input ends.
const sendersOf = "GIFTING_BENCH_SENDERS"

// TestMain lets the senders, the minimal gateway and the receiver be processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv(minimalVariable) != "" {
		if err := serveMinimalGateway(); err != nil {
			fmt.Fprintln(os.Stderr, "minimal gateway:", err)
			os.Exit(1)
		}
	}
	if of := os.Getenv(sendersOf); of != "" {
		words := strings.Fields(of)
		answers := sendLargeBodies(words[0], words[1:])
		if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(fixture.Main(m))
}

// startSenders returns a function that ends the senders and returns the number of answers by status; 0 is a connection that broke.
// Usual senders have machines of their own, so these get only the processor time that the platform leaves.
func startSenders(b *testing.B, url string, keys []string) (end func() map[int]int) {
	b.Helper()
	program, err := os.Executable()
	require.NoError(b, err)
	command := exec.CommandContext(b.Context(), "nice", "-n", "19", program)
	command.Env = append(os.Environ(), sendersOf+"="+url+" "+strings.Join(keys, " "))
	command.Stderr = os.Stderr
	until, err := command.StdinPipe()
	require.NoError(b, err)
	output, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	return func() (answers map[int]int) {
		require.NoError(b, until.Close())
		require.NoError(b, json.NewDecoder(output).Decode(&answers))
		require.NoError(b, command.Wait())
		return answers
	}
}

// sendLargeBodies sends over each connection one body after another. A refused connection waits as long as the answer says.
func sendLargeBodies(url string, keys []string) map[int]int {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	bodies := []string{
		`{"externalOrderId":"` + strings.Repeat("x", largeBody) + `"}`,
		`{"items":[{}` + strings.Repeat(",{}", largeBody/3) + `]}`,
	}
	var (
		group   sync.WaitGroup
		lock    sync.Mutex
		answers = map[int]int{}
	)
	for i := range connections {
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		group.Go(func() {
			// They do not all begin, and come back when the answers tell them, at the same moment.
			<-time.After(time.Duration(i) * 5 * time.Second / connections)
			for ctx.Err() == nil {
				status, wait := sendLargeBody(ctx, client, url, keys[i%len(keys)], bodies[i%len(bodies)])
				lock.Lock()
				answers[status]++
				lock.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(wait):
				}
			}
		})
	}
	group.Wait()
	return answers
}

// sendLargeBody returns the status of the answer, or 0 without one, and how long to wait before the next request.
func sendLargeBody(ctx context.Context, client *http.Client, url, key, body string) (status int, wait time.Duration) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body)) //nolint:gosec // The gateway's.
	if err != nil {
		return 0, time.Second
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", uuid.NewString())
	res, err := client.Do(req) //nolint:gosec // The same.
	if err != nil {            // The gateway closes the connection of a body that it does not read.
		return 0, time.Second
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, time.Duration(seconds) * time.Second
}
