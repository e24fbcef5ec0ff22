package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (c *callCommand) run(command *cobra.Command, args []string) error {
	target, err := c.app.chooseContext()
	if err != nil {
		return err
	}
	req, err := c.request(command, args, target)
	if err != nil {
		return err
	}
	if c.app.dryRun {
		return c.printDryRun(req, target)
	}
	if target, err = c.inCell(command.Context(), target, c.tenantOf(req)); err != nil {
		return err
	}
	conn, err := c.app.dial(target, serviceOf(c.method))
	if err != nil {
		return err
	}
	defer conn.close()
	if watched, ok := req.(*eventsv1.WatchEventsRequest); ok {
		return c.watch(command.Context(), conn, watched)
	}
	if c.document != "" {
		return c.export(command.Context(), conn, req)
	}
	resp, err := c.sendPages(command.Context(), conn, req)
	if err != nil {
		return c.explainRepeat(req, err)
	}
	if c.text != "" {
		return c.writeText(resp)
	}
	if err := c.app.print(resp, c.columns); err != nil {
		c.explainUnprinted()
		return err
	}
	if c.showOnce != "" {
		c.app.note("This is the only time that " + c.showOnce + " can be read. Store it now.")
	}
	if next := c.nextCursor(resp); next != "" {
		c.app.note(fmt.Sprintf("There are more: --%s %s, or --all", c.cursorField().name, next))
	}
	return nil
}

// printDryRun prints what would be sent.
func (c *callCommand) printDryRun(req proto.Message, target chosenContext) error {
	addr, err := target.address(serviceOf(c.method))
	if err != nil {
		return err
	}
	if c.isInCell(target, c.tenantOf(req)) {
		addr = "the address of its cell"
	}
	if err := c.app.printJSON(c.withoutSecrets(req)); err != nil {
		return err
	}
	c.app.note(fmt.Sprintf("Not sent: %s to %s at %s, context %s.", c.method[1:], serviceOf(c.method), addr, target.name))
	return nil
}

// sendPages makes the call. With --all it makes one for each page and returns them as one.
func (c *callCommand) sendPages(ctx context.Context, conn *connection, req proto.Message) (proto.Message, error) {
	whole := newMessage(method(c.method).Output())
	for {
		resp := newMessage(method(c.method).Output())
		if err := conn.call(ctx, c.method, req, resp); err != nil {
			return nil, err
		}
		next := c.nextCursor(resp)
		if !c.all {
			return resp, nil
		}
		sum := sumCounts(whole, resp)
		proto.Merge(whole, resp)
		setCounts(whole, sum)
		if next == "" {
			clearPage(whole)
			return whole, nil
		}
		if err := c.setPage(req, next); err != nil {
			return nil, err
		}
	}
}

// withoutSecrets returns the request without the part of a URL that may be a secret of its receiver.
func (c *callCommand) withoutSecrets(req proto.Message) proto.Message {
	if c.secretURL == "" {
		return req
	}
	shown := proto.Clone(req).ProtoReflect()
	fd := shown.Descriptor().Fields().ByName(protoreflect.Name(c.secretURL))
	if !shown.Has(fd) {
		return req
	}
	hidden := "…"
	if u, err := url.Parse(shown.Get(fd).String()); err == nil && u.Host != "" {
		hidden = u.Scheme + "://" + u.Host + "/…"
	}
	shown.Set(fd, protoreflect.ValueOfString(hidden))
	return shown.Interface()
}

// explainRepeat adds how the command can be repeated: from the page that failed, or with the id that makes a repeated call safe.
func (c *callCommand) explainRepeat(req proto.Message, err error) error {
	refused, ok := errors.AsType[*refusal](err)
	if ok {
		refused.changes = !c.readOnly
		refused.makesKey = c.makesKey()
	}
	if cursor := c.cursor(req); c.all && !c.readOnly && cursor != "" {
		c.app.note(fmt.Sprintf("The pages before were done. It goes on with --all --%s %s", c.cursorField().name, cursor))
	}
	if ok {
		refused.repeat = c.repeatWith()
	}
	return err
}

// explainUnprinted says after a change what to do because its response could not be printed, such as on a full disk.
func (c *callCommand) explainUnprinted() {
	if c.makesKey() {
		c.app.note("The key was made, but its text is lost: revoke it. keys list shows it.")
	}
	if with := c.repeatWith(); with != "" {
		c.app.note("The change was made. Nothing is done twice if you repeat the command with " + with)
	}
}

func (c *callCommand) makesKey() bool {
	return c.method == tenantsv1.TenantOperationsService_CreateKey_FullMethodName
}

// repeatWith is the argument that makes a repeated call safe; empty if there is none.
func (c *callCommand) repeatWith() string {
	if c.generatedID == "" || len(c.named(c.generatedID).values) == 0 { // Those of a file are the same the next time.
		return ""
	}
	id := c.named(c.generatedID).values[0]
	if slices.Contains(c.args, c.generatedID) {
		return id
	}
	return "--" + c.named(c.generatedID).name + " " + id
}
