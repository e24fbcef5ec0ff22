package redisconn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"

	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

func TestABadURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"redis://:s3cr%ztpassword@redis:6379", "http://:s3cret@redis", "redis://:s3cret@redis:6379/x",
		"redis://:s3cr/et@redis:6379", "redis://:s3cr#et@redis", "redis://:12/s3cr@redis:6379",
	} {
		_, err := redisconn.Open(address, telemetry.Discard())
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "s3cr")
		require.Equal(t, err, redisconn.Check(address))
	}
	require.NoError(t, redisconn.Check(""))
	require.NoError(t, redisconn.Check("redis://user:secret@h:6379/1"))
}

// A program that starts while DNS is down must not wait for it.
//
//nolint:paralleltest // It replaces the resolver of the process.
func TestAClientIsMadeWithoutConnectingOrAskingDNS(t *testing.T) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	var lookups atomic.Int32
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		lookups.Add(1)
		return nil, errors.New("DNS is down")
	}}
	client, err := redisconn.Open("redis://redis.example.com:6379/0", telemetry.Discard())
	require.NoError(t, err)
	require.Equal(t, 0, client.Options().MaxRetries, "the library's form of -1: none")
	require.True(t, client.Options().ContextTimeoutEnabled)
	require.NoError(t, client.Close())
	require.NoError(t, redisconn.Check("redis://redis.example.com:6379/0"))
	require.Zero(t, lookups.Load())
}

func observedClient(t *testing.T, tel *telemetrytest.Record) *redis.Client {
	t.Helper()
	client, err := redisconn.Open(testenv.Require(t, testenv.RedisURL), tel.Telemetry)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestCommandsOfATraceAreSpansWithoutKeysAndValues(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	client := observedClient(t, tel)
	// Connections are opened first, which takes commands too.
	require.NoError(t, client.Exists(t.Context(), "marked:nothing").Err())
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error { return p.Exists(t.Context(), "marked:nothing").Err() })
	require.NoError(t, err)
	require.Empty(t, tel.SpanNames(), "outside of a trace")

	ctx, span := tel.StartSpan(t.Context())
	require.ErrorIs(t, client.Get(ctx, "marked:nothing").Err(), redis.Nil)
	_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, "marked:nothing")
		p.Exists(ctx, "marked:nothing")
		return nil
	})
	require.ErrorIs(t, err, redis.Nil)
	require.Error(t, client.Do(ctx, "GET", "marked", "marked").Err())

	require.Equal(t, []string{"GET", "PIPELINE", "GET"}, tel.SpanNames())
	for _, s := range tel.Spans("GET") {
		require.Equal(t, span.SpanContext().SpanID(), s.Parent().SpanID())
		require.NotContains(t, telemetrytest.Attributes(s), "db.query.text")
	}
	require.Equal(t, codes.Unset, tel.Spans("GET")[0].Status().Code, "nothing found is no error")
	require.Equal(t, codes.Error, tel.Spans("GET")[1].Status().Code)
	require.Empty(t, tel.Spans("GET")[1].Status().Description)
	require.Equal(t, "2", telemetrytest.Attributes(tel.Spans("PIPELINE")[0])["db.operation.batch.size"])
}

func TestAClientMeasuresItsConnections(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	client := observedClient(t, tel)
	require.NoError(t, client.Ping(t.Context()).Err())
	const name = "db.client.connection.pool.name=redis"
	require.InDelta(t, 1, tel.Values(t, "db.client.connection.count")[name+",db.client.connection.state=idle,db.system.name=redis"], 0)
	require.InDelta(t, client.Options().PoolSize, tel.Values(t, "db.client.connection.max")[name+",db.system.name=redis"], 0)
}

func TestAConnectionToAnotherServerIsNoted(t *testing.T) {
	t.Parallel()
	server := serverOf(t, "one")
	client, err := redisconn.Open("redis://"+server.address, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	var noted atomic.Int64
	redisconn.OnNewServer(client, func() { noted.Add(1) })
	for _, tc := range []struct {
		id      string
		another bool
	}{{"one", true}, {"one", false}, {"two", true}, {"", true}, {"", true}, {"two", true}, {"two", false}} {
		before := noted.Load()
		server.id.Store(tc.id)
		server.cut()
		require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 30*time.Second, time.Millisecond)
		require.Equal(t, tc.another, noted.Load() > before, tc.id)
	}
}

// server answers as Redis does, and says that it is the process with the id, if that is not empty.
type server struct {
	address string
	id      atomic.Value

	mu    sync.Mutex
	conns []net.Conn
}

func serverOf(t *testing.T, id string) *server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	s := &server{address: listener.Addr().String()}
	s.id.Store(id)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			go s.answer(conn)
		}
	}()
	return s
}

// answer reads the arguments of commands, each in a line of its own, and answers the last one of each command.
func (s *server) answer(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch strings.ToLower(lines.Text()) {
		case "hello":
			_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
		case "ping":
			_, _ = conn.Write([]byte("+PONG\r\n"))
		case "setinfo":
			_, _ = conn.Write([]byte("+OK\r\n"))
		case "info":
			info := "# Server\r\nredis_version:7.0.0\r\n"
			if id, _ := s.id.Load().(string); id != "" {
				info += "run_id:" + id + "\r\nmaster_replid:a\r\n"
			}
			_, _ = fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(info), info)
		}
	}
}

// cut ends all connections.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.conns = nil
}
