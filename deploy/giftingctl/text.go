package giftingctl

import (
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// writeText writes the text of a response to the file of --out, which it replaces, or prints the text as it is.
func (c *callCommand) writeText(resp proto.Message) error {
	m := resp.ProtoReflect()
	text := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(c.text))).String()
	switch {
	case c.out != "-":
		if err := os.WriteFile(c.out, []byte(text), 0o600); err != nil {
			return usage(err)
		}
		return c.app.done(map[string]any{"file": c.out, "bytes": len(text)}, fmt.Sprintf("Written to %s, %d bytes.", c.out, len(text)))
	case c.app.output == asJSON:
		return c.app.printJSON(resp)
	}
	_, err := io.WriteString(c.app.Out, text)
	return err
}
