package httperror

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"

	"github.com/partnergifting/platform/pkg/problem"
)

// Listener rewrites the errors that net/http sends before any handler runs, because a request is not well-formed HTTP.
// They are plain text, and an unknown transfer coding is a 501. With the Listener they are problem documents with status 400.
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

// plainErrorHeaders end the head of each error that net/http sends by itself, in a single write. A handler's response has a
// Date header, so it never looks like this.
var plainErrorHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	_, head, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok || !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) || !bytes.HasPrefix(head, plainErrorHeaders) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.writer.malformedRequest()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets the server close its side first, so that a caller that is still sending can read the response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// malformedRequest is the whole response to a request that cannot be read.
func (p Writer) malformedRequest() []byte {
	const idLen = 16
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // Never fails.
	requestID := hex.EncodeToString(id)
	body := p.Body(requestID, problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: "the request is not well-formed HTTP"}))
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nRequest-Id: %s\r\nConnection: close\r\n\r\n%s", contentType, len(body), requestID, body)
}
