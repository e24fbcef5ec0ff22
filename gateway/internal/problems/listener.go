package problems

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"

	"github.com/partnergifting/platform/pkg/problem"
)

// Listener makes the answers net/http gives before any handler runs, to requests that are not
// well-formed HTTP, into problems: their plain text would be the one error that is none, and a
// transfer coding the server does not know the one input that is answered 5xx.
type Listener struct {
	net.Listener
	Writer Writer
}

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: accepted, writer: l.Writer}, nil
}

type conn struct {
	net.Conn
	writer Writer
}

// ownHeaders ends the head of every answer net/http makes up by itself, which it writes in one
// piece. An answer of a handler has a Date, so it never looks like this.
var ownHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	_, head, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok || !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) || !bytes.HasPrefix(head, ownHeaders) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.writer.malformed()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets the server end its side first, so that a caller still sending reads the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// malformed is the whole answer to a request that cannot be read.
func (p Writer) malformed() []byte {
	const idLen = 16
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // Never fails.
	requestID := hex.EncodeToString(id)
	fault := problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: "the request is not well-formed HTTP"})
	body := p.render(requestID, fault)
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nRequest-Id: %s\r\nConnection: close\r\n\r\n%s", ContentType, len(body), requestID, body)
}
