// Package parking keeps the connections of held calls outside of the HTTP server, which spends a deep stack and three buffers, 30 KB
// together, on each call under way. A parked connection takes one small goroutine, which notices when the caller leaves.
//
// A connection that is given back comes to the server like a new one, through the Lot, which is a net.Listener. The server reads the
// head of a request again, and its handler goes on with the held call (Resumed). So the server itself writes the answer, keeps the
// connection alive and bounds its times.
package parking

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
)

// Lot is the listener of the connections that are given back. Its Accept ends when it is closed.
type Lot struct {
	back   chan *Conn
	closed chan struct{}
	close  func()
}

// New makes a Lot.
func New() *Lot {
	l := &Lot{back: make(chan *Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept implements net.Listener.
func (l *Lot) Accept() (net.Conn, error) {
	select {
	case c := <-l.back:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections that are parked can then only be closed.
func (l *Lot) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *Lot) Addr() net.Addr { return &net.UnixAddr{Name: "parked", Net: "unix"} }

// Listener makes the connections that it accepts fit for parking.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: accepted}, nil
}

// Conn is a connection that can be parked.
type Conn struct {
	net.Conn

	// head is that of the held request, which the server reads first when it has the connection back. more is what the caller has
	// sent after its request.
	head, more []byte
	held       any
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	for _, first := range []*[]byte{&c.head, &c.more} {
		if len(*first) > 0 {
			n := copy(p, *first)
			if *first = (*first)[n:]; len(*first) == 0 {
				*first = nil
			}
			return n, nil
		}
	}
	return c.Conn.Read(p)
}

// CloseWrite lets the server close its side first.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

var errNotParkable = errors.New("the connection cannot be parked")

// Park takes the connection of a request from the server. The request must have no body, and nothing of its answer may be written.
// If the outcome is no error, the handler must return without an answer.
func Park(w http.ResponseWriter, r *http.Request) (*Conn, error) {
	taken, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	c, ok := taken.(*Conn)
	if !ok {
		return nil, errors.Join(errNotParkable, taken.Close())
	}
	c.head = head(r)
	c.more = append(rest(buffer.Reader), c.more...) // The server may have read only a part of what it had to read again.
	return c, nil
}

// head is what makes the server answer as it would have answered the request: its method, its version, and whether the connection
// closes. It is short and has no text of the caller, so the server never refuses it.
func head(r *http.Request) []byte {
	connection := "keep-alive"
	if r.Close {
		connection = "close"
	}
	return fmt.Appendf(nil, "%s / HTTP/%d.%d\r\nHost: parked\r\nConnection: %s\r\n\r\n", r.Method, r.ProtoMajor, r.ProtoMinor, connection)
}

// rest returns a copy of what is in the buffer.
func rest(buffer *bufio.Reader) []byte {
	buffered, _ := buffer.Peek(buffer.Buffered())
	return append([]byte(nil), buffered...)
}

// Gone waits until the caller of a parked connection has left: then it is true. It is false once the deadline for reading has passed,
// or the caller has sent more: from then on nobody notices that it leaves.
func (c *Conn) Gone() bool {
	if len(c.more) > 0 {
		return false
	}
	var one [1]byte
	n, err := c.Conn.Read(one[:])
	if n > 0 {
		c.more = one[:n:n]
		return false
	}
	return !errors.Is(err, os.ErrDeadlineExceeded) // The network may have a timeout too: then the caller has left.
}

// GiveBack gives a parked connection back to the server, whose handler then gets what was held. It is false if the server takes no
// connections any more.
func (l *Lot) GiveBack(c *Conn, held any) bool {
	c.held = held
	select {
	case l.back <- c:
		return true
	case <-l.closed:
		return false
	}
}

type connKey struct{}

// ConnContext lets Resumed see the connection of a request. It is to be called by ConnContext of the server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Resumed returns what was held, if the request is that of a connection that was given back, and otherwise nil.
func Resumed(r *http.Request) any {
	c, ok := r.Context().Value(connKey{}).(*Conn)
	if !ok {
		return nil
	}
	held := c.held
	c.held = nil
	return held
}
