package assistant

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Transport reads messages from the lines of in, and writes to out. The transport of the MCP library ends at a line that is no
// message. This one answers such a line with an error and goes on.
func Transport(in io.Reader, out io.Writer) mcp.Transport {
	to := &output{to: out}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, mcp.DefaultMaxLineLength)
	return &mcp.IOTransport{Reader: io.NopCloser(&lines{scanner: scanner, out: to}), Writer: to}
}

// output is written by the library and by lines, each message at once. The process closes the stream.
type output struct {
	lock sync.Mutex
	to   io.Writer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.to.Write(p)
}

// Close implements io.Closer.
func (*output) Close() error { return nil }

// lines are the lines of an input that are messages.
type lines struct {
	scanner *bufio.Scanner
	out     io.Writer
	unread  []byte
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.unread) == 0 {
		if !l.scanner.Scan() {
			return 0, cmp.Or(l.scanner.Err(), io.EOF)
		}
		line := bytes.TrimSpace(l.scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if refused := check(line); refused != nil {
			if err := l.answer(refused); err != nil {
				return 0, err
			}
			continue
		}
		l.unread = append(bytes.Clone(line), '\n')
	}
	n := copy(p, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}

// check returns the error of a line that is no message.
func check(line []byte) *jsonrpc.Error {
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}

func (l *lines) answer(refused *jsonrpc.Error) error {
	message, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"` // null, because nobody knows of which request.
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, refused})
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(message, '\n'))
	return err
}
