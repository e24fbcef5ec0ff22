package httperror

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// lengthLine begins a Content-Length header, after the end of the previous line.
const lengthLine = "content-length:"

// lengthScanner notices whether a Content-Length header has been read from a connection. Package net/http removes that header from
// a request that also has a Transfer-Encoding, so a handler cannot see it. A line of a body that looks like the header counts too.
type lengthScanner struct {
	seen atomic.Bool
	// matched is how much of lengthLine the current line matches; it is -1 if the line is another one.
	matched int
}

// scan looks at what was read. Only one Read runs at a time.
func (l *lengthScanner) scan(p []byte) {
	if l.seen.Load() {
		return
	}
	for len(p) > 0 {
		if l.matched < 0 {
			end := bytes.IndexByte(p, '\n')
			if end < 0 {
				return
			}
			l.matched, p = 0, p[end+1:]
			continue
		}
		switch c := p[0]; {
		case c == '\n':
			l.matched = 0
		case l.matched == 0 && (c == ' ' || c == '\t'): // A folded line, which a proxy may read as a header.
		case lower(c) == lengthLine[l.matched]:
			l.matched++
		default:
			l.matched = -1
		}
		if l.matched == len(lengthLine) {
			l.seen.Store(true)
			return
		}
		p = p[1:]
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

type framingKey struct{}

// ConnContext lets UncertainEnd see the connection of a request. It is for the field ConnContext of http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, framingKey{}, &own.lengths)
	}
	return ctx
}

// UncertainEnd reports whether a proxy may see another end of the request than this server, and would take the rest of its body
// for the next request. The connection must be closed after its response (RFC 9112, section 6.1). It is reported for a request
// with a Transfer-Encoding that may also have a Content-Length. It is also reported if only an earlier request of the connection
// had a Content-Length, because pipelined requests are read at once; closing the connection then costs a new one. And it is
// reported for HTTP/1.0, where package net/http ignores and removes a Transfer-Encoding.
func UncertainEnd(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	if len(r.TransferEncoding) == 0 {
		return false
	}
	l, ok := r.Context().Value(framingKey{}).(*lengthScanner)
	return ok && l.seen.Load()
}
