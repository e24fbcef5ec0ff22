package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// edgeClient is one integrator on one connection. It does little more than write and read bytes, because it runs on
// the processors that it measures: net/http's client costs as much as its server.
type edgeClient struct {
	// conn is made with the first request: the gateway does not wait long for one.
	conn net.Conn
	read *bufio.Reader
	host string
	path string
	keys *keyring
	key  string
	used int
}

func newEdgeClient(b *testing.B, base string, keys *keyring) *edgeClient {
	b.Helper()
	at, err := url.Parse(base)
	require.NoError(b, err)
	c := &edgeClient{host: at.Host, path: at.Path, keys: keys}
	b.Cleanup(func() {
		if c.conn != nil {
			_ = c.conn.Close()
		}
	})
	return c
}

func newEdgeClients(b *testing.B, base string, keys *keyring) []*edgeClient {
	b.Helper()
	out := make([]*edgeClient, clients)
	for i := range out {
		out[i] = newEdgeClient(b, base, keys)
	}
	return out
}

func (c *edgeClient) get(path string) ([]byte, error) {
	return c.do(http.MethodGet, path, "", http.StatusOK)
}

func (c *edgeClient) post(path, idempotencyKey, body string, wanted int) ([]byte, error) {
	rest := fmt.Sprintf("Idempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		idempotencyKey, len(body), body)
	return c.do(http.MethodPost, path, rest, wanted)
}

func (c *edgeClient) do(method, path, rest string, wanted int) ([]byte, error) {
	if c.key == "" || c.used == usesOfKey {
		key, err := c.keys.take()
		if err != nil {
			return nil, err
		}
		c.key, c.used = key, 0
	}
	c.used++
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.host) //nolint:noctx // Nobody waits for a benchmark's client to be cut off.
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

func (c *edgeClient) receive(wanted int) ([]byte, error) {
	res, err := http.ReadResponse(c.read, nil)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if err := res.Body.Close(); err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if res.StatusCode != wanted {
		return nil, fmt.Errorf("answered %s: %.500s", res.Status, body)
	}
	return body, nil
}
