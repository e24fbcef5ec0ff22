package kafka

import (
	"context"
	"net"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Config says where Kafka is and how to connect to it. Its fields are filled from the environment by the program that starts.
type Config struct {
	// Brokers are host:port addresses to connect to first; they name the other brokers.
	Brokers []string `env:"BROKERS,required" check:"hostports" doc:"Brokers to connect to first; they report the others."`
	// ClientID is what the brokers call this program in their logs, metrics and quotas. It may be empty.
	ClientID string `env:"CLIENT_ID" doc:"Name of this program in the logs, metrics and quotas of the brokers."`
	// TLS and SASL secure the connections; either may be empty.
	TLS  TLSConfig  `envPrefix:"TLS_"`
	SASL SASLConfig `envPrefix:"SASL_"`
}

// Header is one header of a message: a key and an uninterpreted value.
type Header = kafkago.Header

// Message is one message. A caller of Publish sets Key, Value and Headers; Publish and a consumer set the other fields.
type Message struct {
	// Key decides the partition and so the order. It must not be empty.
	Key     []byte
	Value   []byte
	Headers []Header

	Partition int
	Offset    int64
	// Time is when the message was given to Publish; only a consumer sets it.
	Time time.Time
}

// metadataAge bounds how long a moved partition leader goes unnoticed if no request fails: after an error the next one begins with
// fresh metadata. A transport asks so often also while it has nothing else to do.
const metadataAge = 10 * time.Second

// conns holds the connections of one reader, so that they can be closed. The library's Close waits until the pending read
// reaches its deadline, or forever if it has none. Closing the connections ends both immediately.
type conns struct {
	open func(ctx context.Context, network, address string) (net.Conn, error)

	lock   sync.Mutex
	closed bool
	live   map[*trackedConn]struct{}
	// fresh: a connection was made since the last call of renewed.
	fresh bool
}

func newConns(open func(ctx context.Context, network, address string) (net.Conn, error)) *conns {
	return &conns{open: open, live: map[*trackedConn]struct{}{}}
}

func (c *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := c.open(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &trackedConn{Conn: inner, owner: c}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	c.live[conn], c.fresh = struct{}{}, true
	return conn, nil
}

// renewed reports whether a connection was made since the last call.
func (c *conns) renewed() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	fresh := c.fresh
	c.fresh = false
	return fresh
}

// cut closes every connection and refuses new ones.
func (c *conns) cut() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.closed = true
	for conn := range c.live {
		_ = conn.Conn.Close()
	}
	clear(c.live)
}

// unlessClosed drops the reader's messages about connections that were closed on purpose.
func (c *conns) unlessClosed(next kafkago.Logger) kafkago.Logger {
	return kafkago.LoggerFunc(func(format string, args ...any) {
		c.lock.Lock()
		closed := c.closed
		c.lock.Unlock()
		if !closed {
			next.Printf(format, args...)
		}
	})
}

type trackedConn struct {
	net.Conn
	owner *conns
}

// Close closes the connection and forgets it.
func (t *trackedConn) Close() error {
	t.owner.lock.Lock()
	delete(t.owner.live, t)
	t.owner.lock.Unlock()
	return t.Conn.Close()
}

// closeReader closes a reader without waiting for its pending read.
func closeReader(reader *kafkago.Reader, conns *conns) {
	conns.cut()
	_ = reader.Close()
}
