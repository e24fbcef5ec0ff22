package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var errOut = errors.New("name the file to write: --out FILE")

// export writes a document of one or many pages to a file. It never overwrites a file. With --after it continues one.
func (c *callCommand) export(ctx context.Context, conn *connection, req proto.Message) (err error) {
	if c.out == "" {
		return usage(errOut)
	}
	mode := os.O_CREATE | os.O_EXCL
	if f := c.pages(); f != nil && len(f.values) > 0 {
		mode = os.O_APPEND
	}
	file, err := os.OpenFile(c.out, os.O_WRONLY|mode, 0o600)
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	bar := c.app.bar("written", 0)
	defer bar.end()
	for {
		resp := newMessage(method(c.method).Output())
		if err := conn.call(ctx, c.method, req, resp); err != nil {
			return err
		}
		content := resp.ProtoReflect().Get(resp.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(c.document))).Bytes()
		if _, err := file.Write(content); err != nil {
			return err
		}
		bar.add(len(content))
		next := c.next(resp)
		if next == "" {
			break
		}
		req.ProtoReflect().Set(c.pages().last(), protoreflect.ValueOfString(next))
	}
	bar.end()
	c.app.note(fmt.Sprintf("Written to %s, %d bytes. It holds personal data.", c.out, bar.done))
	return nil
}
