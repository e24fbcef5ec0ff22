package giftingctl

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/pkg/fields"
)

// writeText writes the text of a response to the file of --out, which it replaces, or prints the text as it is. On a terminal
// it shows the characters that would control it.
func (c *callCommand) writeText(resp proto.Message) error {
	m := resp.ProtoReflect()
	text := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(c.text))).String()
	switch {
	case c.out != "-":
		if err := checkReplaceable(c.out); err != nil {
			return usage(err)
		}
		if err := bootstrap.WriteFile(c.out, []byte(text)); err != nil {
			return usage(err)
		}
		return c.app.done(map[string]any{"file": c.out, "bytes": len(text)}, fmt.Sprintf("Written to %s, %d bytes.", c.out, len(text)))
	case c.app.output == asJSON:
		return c.app.printJSON(resp)
	case c.app.OutTerminal:
		text = fields.VisibleText(text)
	}
	_, err := io.WriteString(c.app.Out, text)
	return err
}
