package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func (c *callCommand) run(command *cobra.Command, args []string) error {
	of, err := c.app.chosen()
	if err != nil {
		return err
	}
	req, err := c.request(command, args, of)
	if err != nil {
		return err
	}
	if c.app.dryRun {
		return c.show(req, of)
	}
	conn, err := c.app.dial(of, serviceOf(c.method))
	if err != nil {
		return err
	}
	defer conn.close()
	if c.document != "" {
		return c.export(command.Context(), conn, req)
	}
	resp, err := c.send(command.Context(), conn, req)
	if err != nil {
		return c.repeatable(err)
	}
	if err := c.app.print(resp, c.columns); err != nil {
		return err
	}
	if c.once != "" {
		c.app.note("This is the only time that " + c.once + " can be read. Store it now.")
	}
	if next := c.next(resp); next != "" {
		c.app.note(fmt.Sprintf("There are more: --%s %s, or --all", c.pages().name, next))
	}
	return nil
}

// show prints what would be sent.
func (c *callCommand) show(req proto.Message, of chosen) error {
	addr, err := of.address(serviceOf(c.method))
	if err != nil {
		return err
	}
	if err := c.app.printJSON(req); err != nil {
		return err
	}
	c.app.note(fmt.Sprintf("Not sent: %s to %s at %s, context %s.", c.method[1:], serviceOf(c.method), addr, of.name))
	return nil
}

// send makes the call. With --all it makes one for each page and returns them as one.
func (c *callCommand) send(ctx context.Context, conn *connection, req proto.Message) (proto.Message, error) {
	whole := newMessage(method(c.method).Output())
	for {
		resp := newMessage(method(c.method).Output())
		if err := conn.call(ctx, c.method, req, resp); err != nil {
			return nil, err
		}
		next := c.next(resp)
		if !c.all {
			return resp, nil
		}
		sum := add(whole, resp)
		proto.Merge(whole, resp)
		set(whole, sum)
		if next == "" {
			clearPage(whole)
			return whole, nil
		}
		f := c.pages()
		req.ProtoReflect().Set(f.last(), protoreflect.ValueOfString(next))
	}
}

// repeatable adds the id that makes a repeated call safe.
func (c *callCommand) repeatable(err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && c.fresh != "" && !slices.Contains(c.args, c.fresh) {
		refused.repeat = "--" + c.named(c.fresh).name + " " + c.named(c.fresh).values[0]
	}
	return err
}
