package kafka

import (
	"context"
	"net"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
)

// conns keeps the connections of one reader, so that they can be cut. Closing the library's reader waits for its
// pending read to run into a deadline, or for ever where it has set none; cutting its connections ends both at once.
type conns struct {
	open func(ctx context.Context, network, address string) (net.Conn, error)

	lock   sync.Mutex
	closed bool
	live   map[*trackedConn]struct{}
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
	c.live[conn] = struct{}{}
	return conn, nil
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

// unlessClosed drops what the reader has to say about connections that were cut on purpose.
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
