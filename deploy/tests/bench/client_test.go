package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// client is one integrator on one connection. It does little more than write and read bytes, because it shares the processors
// with the platform: net/http's client costs as much as its server.
type client struct {
	// conn is made with the first request, because the gateway soon closes connections without one.
	conn       net.Conn
	read       *bufio.Reader
	host, path string
	// key is used for requestsOfKey requests, then the next of keys. A clientPool sets another one before each request.
	keys *keyring
	key  string
	used int
}

func newClient(b *testing.B, base string, keys *keyring) *client {
	b.Helper()
	at, err := url.Parse(base)
	require.NoError(b, err)
	c := &client{host: at.Host, path: at.Path, keys: keys}
	b.Cleanup(func() {
		if c.conn != nil {
			_ = c.conn.Close()
		}
	})
	return c
}

func (c *client) get(path string) ([]byte, error) {
	return c.do(http.MethodGet, path, "", "", http.StatusOK)
}

func (c *client) post(path, idempotencyKey, body string, wantStatus int) ([]byte, error) {
	headers := fmt.Sprintf("Idempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
		idempotencyKey, len(body))
	return c.do(http.MethodPost, path, headers, body, wantStatus)
}

func (c *client) do(method, path, headers, body string, wantStatus int) ([]byte, error) {
	if c.key == "" || c.used == requestsOfKey {
		key, err := c.keys.next()
		if err != nil {
			return nil, err
		}
		c.key, c.used = key, 0
	}
	c.used++
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.host, answerTimeout) //nolint:noctx // The benchmark waits for every request to end.
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		c.conn, c.read = conn, bufio.NewReader(conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	request := method + " " + c.path + path + " HTTP/1.1\r\nHost: " + c.host + "\r\nAuthorization: Bearer " + c.key + "\r\n" +
		headers + "\r\n" + body
	if _, err := io.WriteString(c.conn, request); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	return c.receive(wantStatus)
}

// answerTimeout is longer than any request may take.
const answerTimeout = time.Minute

// receive reads a response and returns its body.
func (c *client) receive(wantStatus int) ([]byte, error) {
	status, err := c.read.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	body, err := c.receiveBody()
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if !strings.HasPrefix(status, "HTTP/1.1 "+strconv.Itoa(wantStatus)+" ") {
		return nil, fmt.Errorf("answered %s: %.500s", status, body)
	}
	return body, nil
}

func (c *client) receiveBody() ([]byte, error) {
	var length int
	var chunked bool
	for {
		line, err := c.read.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-len("\r\n")]
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return nil, err
			}
		case "Transfer-Encoding":
			chunked = true
		}
	}
	if chunked {
		return c.receiveChunks()
	}
	body := make([]byte, length)
	_, err := io.ReadFull(c.read, body)
	return body, err
}

func (c *client) receiveChunks() ([]byte, error) {
	body, err := io.ReadAll(httputil.NewChunkedReader(c.read))
	if err != nil {
		return nil, err
	}
	_, err = c.read.Discard(len("\r\n")) // There are no trailers.
	return body, err
}

const (
	// requestsOfKey stays below the limit of a key, 300 requests a minute.
	requestsOfKey = 290
	// keysAhead are made before anything is measured.
	keysAhead = 300
)

// keyring hands out API keys, each of which has its own rate limit.
type keyring struct {
	create func() (string, error)

	lock sync.Mutex
	free []string
}

func newKeyring(b *testing.B, tenant fixture.Tenant) *keyring {
	b.Helper()
	return newKeyringWith(b, tenant, keysAhead)
}

// newKeyringWith creates so many keys now, and more when these are used up.
func newKeyringWith(b *testing.B, tenant fixture.Tenant, number int) *keyring {
	b.Helper()
	ctx := b.Context()
	k := &keyring{create: func() (string, error) {
		created, err := tenant.NewKey(ctx, "")
		return created.GetApiKey(), err
	}}
	for range number {
		key, err := k.create()
		require.NoError(b, err)
		k.free = append(k.free, key)
	}
	return k
}

func (k *keyring) next() (string, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if len(k.free) == 0 {
		return k.create()
	}
	key := k.free[0]
	k.free = k.free[1:]
	return key, nil
}

// cycle returns one order after another and then starts again.
type cycle struct {
	last   atomic.Int64
	orders []string
}

func (c *cycle) next() string { return c.orders[c.last.Add(1)%int64(len(c.orders))] }

const (
	// clients is the default number of concurrent clients on each side.
	clients = 16
	// iterationTime is short: the sides alternate, so that other work on the machine affects both.
	iterationTime = 2 * time.Second
)

// iterations is how often each side runs.
func iterations() int {
	if testing.Short() {
		return 3
	}
	return 9
}

// side is one side of a comparison, with its rates per second of each iteration.
type side struct {
	clients int
	rates   []float64
	// used and requests are the processor time and the number of answered requests, of all iterations.
	used     fixture.Usage
	requests int
}

// measure lets all clients send requests for one iteration, and then waits for the work that follows.
func (s *side) measure(b *testing.B, meter *fixture.Meter, request func(client int) error, after func()) {
	b.Helper()
	var perSecond float64
	var sum int
	used := meter.During(b, func() {
		perSecond, sum = sendAll(b, s.clients, request)
		after()
	})
	s.rates, s.requests, s.used = append(s.rates, perSecond), s.requests+sum, s.used.Plus(used)
}

func (s *side) String() string { return fmt.Sprintf("%.0f/s", s.rates[len(s.rates)-1]) }

// sendAll lets all clients send requests for one iteration and returns the number of responses per second and in total.
func sendAll(b *testing.B, clients int, request func(client int) error) (perSecond float64, sum int) {
	b.Helper()
	var group errgroup.Group
	answered := make([]int, clients)
	began := time.Now()
	for i := range clients {
		group.Go(func() error {
			for time.Since(began) < iterationTime {
				if err := request(i); err != nil {
					return err
				}
				answered[i]++
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	took := time.Since(began)
	for _, n := range answered {
		sum += n
	}
	return float64(sum) / took.Seconds(), sum
}

// warmUp is the time before the measured time, at the same rate, in which connections are made.
const warmUp = 2 * time.Second

// atRate sends requests at fixed times. It returns their latencies, counted from the times when they were due and sorted from short
// to long, the largest delay with which one was sent, and the number of connections.
func (f *ordersFixture) atRate(b *testing.B, perSecond int, measured time.Duration, send func(c *client) error) (
	latencies fixture.Latencies, late time.Duration, connections int,
) {
	b.Helper()
	pool := &clientPool{new: func() *client { return f.clients(b, 1)[0] }, keys: f.keys}
	all := make(fixture.Latencies, int((warmUp+measured)/time.Second)*perSecond)
	late = fixture.AtRate(b, perSecond, warmUp, measured, func(call fixture.Call) error {
		c, err := pool.withNextKey()
		if err != nil {
			return err
		}
		err = send(c)
		all[call.Index] = time.Since(call.Due)
		pool.release(c)
		return err
	})
	latencies = all[int(warmUp/time.Second)*perSecond:]
	slices.Sort(latencies)
	return latencies, late, len(pool.clients)
}

// clientPool holds the idle clients. The last used one is taken first, so that no more connections are in use than the rate
// needs.
type clientPool struct {
	new  func() *client
	keys *keyring

	lock    sync.Mutex
	clients []*client
	// key is set in every client that is taken, until requestsOfKey requests have used it. So the number of keys depends on the
	// number of requests, not on that of connections.
	key  string
	used int
}

func (p *clientPool) withNextKey() (c *client, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.key == "" || p.used == requestsOfKey {
		if p.key, err = p.keys.next(); err != nil {
			return nil, err
		}
		p.used = 0
	}
	p.used++
	c = p.idle()
	c.key, c.used = p.key, 0 // With 0, the client does not replace the key.
	return c, nil
}

// withKey returns a client that sends its request with a key.
func (p *clientPool) withKey(key string) *client {
	p.lock.Lock()
	defer p.lock.Unlock()
	c := p.idle()
	c.key, c.used = key, 0
	return c
}

func (p *clientPool) idle() (c *client) {
	if last := len(p.clients) - 1; last >= 0 {
		c, p.clients = p.clients[last], p.clients[:last]
		return c
	}
	return p.new()
}

func (p *clientPool) release(c *client) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.clients = append(p.clients, c)
}
