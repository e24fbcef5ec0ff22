package assistant

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a connection whose messages are lines. That of the MCP library ends at a line that is no message; this one answers it
// with an error and goes on.
type lines struct {
	in   *bufio.Scanner
	lock sync.Mutex
	out  io.Writer
}

// Transport reads messages from in, which ends with the context of the server, and writes to out.
func Transport(in io.Reader, out io.Writer) mcp.Transport {
	l := &lines{in: bufio.NewScanner(in), out: out}
	l.in.Buffer(nil, mcp.DefaultMaxLineLength)
	return l
}

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// Read implements mcp.Connection.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for l.in.Scan() {
		line := bytes.TrimSpace(l.in.Bytes())
		message, err := jsonrpc.DecodeMessage(line)
		code := jsonrpc.CodeInvalidRequest
		switch {
		case err == nil:
			return message, nil
		case len(line) == 0:
			continue
		case !json.Valid(line):
			code = jsonrpc.CodeParseError
		}
		// The library would leave out the id, which is null because nobody knows it.
		refused := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"the line is no message of JSON-RPC"}}`, code)
		if err := l.write([]byte(refused)); err != nil {
			return nil, err
		}
	}
	return nil, cmp.Or(l.in.Err(), io.EOF)
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	return l.write(line)
}

func (l *lines) write(line []byte) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	_, err := l.out.Write(append(line, '\n'))
	return err
}

// Close implements mcp.Connection. The process closes the streams.
func (*lines) Close() error { return nil }

// SessionID implements mcp.Connection.
func (*lines) SessionID() string { return "" }
