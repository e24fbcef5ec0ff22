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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// client is one integrator on one connection. It does little more than write and read bytes, because it runs on
// the processors that it measures: net/http's client costs as much as its server.
type client struct {
	// conn is made with the first request: the gateway does not wait long for one.
	conn       net.Conn
	read       *bufio.Reader
	host, path string
	keys       *keyring
	key        string
	used       int
	// requestID is that of the last answer.
	requestID string
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

func newClients(b *testing.B, number int, base string, keys *keyring) []*client {
	b.Helper()
	out := make([]*client, number)
	for i := range out {
		out[i] = newClient(b, base, keys)
	}
	return out
}

func (c *client) get(path string) ([]byte, error) {
	return c.do(http.MethodGet, path, "", http.StatusOK)
}

func (c *client) post(path, idempotencyKey, body string, wanted int) ([]byte, error) {
	rest := fmt.Sprintf("Idempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		idempotencyKey, len(body), body)
	return c.do(http.MethodPost, path, rest, wanted)
}

func (c *client) do(method, path, rest string, wanted int) ([]byte, error) {
	if c.key == "" || c.used == requestsOfKey {
		key, err := c.keys.take()
		if err != nil {
			return nil, err
		}
		c.key, c.used = key, 0
	}
	c.used++
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.host) //nolint:noctx // The benchmark waits for every request to end.
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		c.conn, c.read = conn, bufio.NewReader(conn)
	}
	if rest == "" {
		rest = "\r\n"
	}
	request := method + " " + c.path + path + " HTTP/1.1\r\nHost: " + c.host + "\r\nAuthorization: Bearer " + c.key + "\r\n" + rest
	if _, err := io.WriteString(c.conn, request); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	return c.receive(wanted)
}

// receive reads an answer and returns its body.
func (c *client) receive(wanted int) ([]byte, error) {
	status, err := c.read.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	body, err := c.receiveBody()
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if !strings.HasPrefix(status, "HTTP/1.1 "+strconv.Itoa(wanted)+" ") {
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
		case "Request-Id":
			c.requestID = string(value)
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
	ctx := b.Context()
	k := &keyring{create: func() (string, error) {
		created, err := tenant.NewKey(ctx, "")
		return created.GetApiKey(), err
	}}
	for range keysAhead {
		key, err := k.create()
		require.NoError(b, err)
		k.free = append(k.free, key)
	}
	return k
}

func (k *keyring) take() (string, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if len(k.free) == 0 {
		return k.create()
	}
	key := k.free[0]
	k.free = k.free[1:]
	return key, nil
}

// cycle returns one order after the other, and begins again.
type cycle struct {
	last   atomic.Int64
	orders []string
}

func (c *cycle) next() string { return c.orders[c.last.Add(1)%int64(len(c.orders))] }
