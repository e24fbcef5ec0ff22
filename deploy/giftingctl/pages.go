package giftingctl

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// cursorField is the field of the request that takes the cursor of a page; nil if the call has no pages.
func (c *callCommand) cursorField() *field {
	i := slices.IndexFunc(c.fields, func(f *field) bool { return f.key == "after" || f.key == "page_token" })
	if i < 0 {
		return nil
	}
	return c.fields[i]
}

// nextCursorField is the field of a response with the cursor of the next page.
func nextCursorField(resp proto.Message) protoreflect.FieldDescriptor {
	fields := resp.ProtoReflect().Descriptor().Fields()
	if fd := fields.ByName("next_cursor"); fd != nil {
		return fd
	}
	return fields.ByName("next_page_token")
}

// nextCursor is the cursor of the next page; empty after the last one.
func (c *callCommand) nextCursor(resp proto.Message) string {
	fd := nextCursorField(resp)
	if fd == nil || c.cursorField() == nil {
		return ""
	}
	return resp.ProtoReflect().Get(fd).String()
}

// cursor is the cursor in a request; empty for the first page.
func (c *callCommand) cursor(req proto.Message) string {
	if c.cursorField() == nil {
		return ""
	}
	return req.ProtoReflect().Get(c.cursorField().descriptor()).String()
}

var errSamePage = errors.New("the service returned the cursor of the same page again")

// setPage makes the request ask for the next page.
func (c *callCommand) setPage(req proto.Message, next string) error {
	fd := c.cursorField().descriptor()
	if c.cursor(req) == next {
		return errSamePage
	}
	req.ProtoReflect().Set(fd, protoreflect.ValueOfString(next))
	return nil
}

func clearPage(resp proto.Message) { resp.ProtoReflect().Clear(nextCursorField(resp)) }

// sumCounts returns the sums of the counts in two responses, such as how many deliveries were sent again.
func sumCounts(a, b proto.Message) map[protoreflect.FieldDescriptor]int64 {
	sums := map[protoreflect.FieldDescriptor]int64{}
	fields := a.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); fd.Kind() == protoreflect.Int32Kind && !fd.IsList() {
			sums[fd] = a.ProtoReflect().Get(fd).Int() + b.ProtoReflect().Get(fd).Int()
		}
	}
	return sums
}

// setCounts sets the counts of a message.
func setCounts(m proto.Message, sums map[protoreflect.FieldDescriptor]int64) {
	for fd, sum := range sums {
		total := protoreflect.ValueOfInt32(int32(sum)) //nolint:gosec // Two billion deliveries are not sent by one command.
		m.ProtoReflect().Set(fd, total)
	}
}
