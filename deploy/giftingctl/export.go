package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/daemon"
)

var errOut = errors.New("name the file to write: --out FILE")

// export writes a document of one or many pages to a file. It never overwrites a file. With --after it continues one.
func (c *callCommand) export(ctx context.Context, conn *connection, req proto.Message) (err error) {
	if c.out == "" {
		return terminal.AsUsageError(errOut)
	}
	mode := os.O_CREATE | os.O_EXCL
	if c.cursor(req) != "" {
		mode = os.O_APPEND | syscall.O_NOFOLLOW
	}
	file, err := os.OpenFile(c.out, os.O_WRONLY|mode, 0o600)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	bar := c.app.bar("bytes written", 0)
	err = c.write(ctx, conn, req, file, bar)
	bar.End()
	if err != nil {
		c.noteContinuation(req)
		return err
	}
	return c.app.reportDone(map[string]any{"file": c.out, "bytes": bar.Done()},
		fmt.Sprintf("Written to %s, %d bytes. It holds personal data.", c.out, bar.Done()))
}

// write writes all pages. After an error the request has the cursor of the page that is missing.
func (c *callCommand) write(
	ctx context.Context, conn *connection, req proto.Message, file *os.File, bar *daemon.ProgressBar,
) error {
	for {
		resp := newMessage(method(c.method).Output())
		if err := conn.call(ctx, c.method, req, resp); err != nil {
			return err
		}
		content := resp.ProtoReflect().Get(resp.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(c.document))).Bytes()
		if err := writePage(file, content); err != nil {
			return err
		}
		bar.Add(len(content))
		next := c.nextCursor(resp)
		if next == "" {
			return nil
		}
		if err := c.setPage(req, next); err != nil {
			return err
		}
	}
}

// writePage writes all of a page or nothing, so that a continued file has no line twice.
func writePage(file *os.File, content []byte) error {
	before, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err != nil {
		return errors.Join(err, file.Truncate(before))
	}
	return nil
}

// noteContinuation says how to go on after an error. An export whose first page failed leaves no file.
func (c *callCommand) noteContinuation(req proto.Message) {
	if cursor := c.cursor(req); cursor != "" {
		c.app.note("The file goes on with --" + c.cursorField().name + " " + cursor)
		return
	}
	_ = os.Remove(c.out) // It is empty. Otherwise the next attempt says that it exists.
}

// bar shows the progress of long work on a terminal. Elsewhere it only counts.
func (a *app) bar(what string, total int) *daemon.ProgressBar {
	if !a.ErrTerminal {
		return daemon.NewProgressBar(io.Discard, what, total)
	}
	return daemon.NewProgressBar(a.Err, what, total)
}

// writeText writes the text of a response to the file of --out, which it replaces, or prints the text as it is. On a terminal
// it shows the characters that would control it.
func (c *callCommand) writeText(resp proto.Message) error {
	m := resp.ProtoReflect()
	text := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(c.text))).String()
	switch {
	case c.out != "-":
		if err := checkReplaceable(c.out); err != nil {
			return terminal.AsUsageError(err)
		}
		if err := bootstrap.WriteFile(c.out, []byte(text)); err != nil {
			return terminal.AsUsageError(err)
		}
		written := map[string]any{"file": c.out, "bytes": len(text)}
		return c.app.reportDone(written, fmt.Sprintf("Written to %s, %d bytes.", c.out, len(text)))
	case c.app.output == terminal.AsJSON:
		return c.app.printJSON(resp)
	case c.app.OutTerminal:
		text = terminal.Visible(text)
	}
	_, err := io.WriteString(c.app.Out, text)
	return err
}
