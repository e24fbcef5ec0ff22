// Package pagetest checks what all paged lists have in common.
package pagetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
)

// noFilters are the fields of a list's request that choose no records: a cursor may be used with other values of them.
var noFilters = []protoreflect.Name{"after", "limit", "wait", "from", "actor"}

// RequireBound requires that the cursor of a list is refused with another value of each filter that the request has, so that no
// filter can be forgotten. base is a request whose page has a cursor. others are values, by name, for filters that do not
// take just any text; a filter without one gets a valid value of its type.
func RequireBound[Request proto.Message](
	t *testing.T, base Request, list func(Request) (next string, err error), others map[protoreflect.Name]any,
) {
	t.Helper()
	next, err := list(base)
	require.NoError(t, err)
	require.NotEmpty(t, next, "the page has no cursor")
	again := withAfter(base, next)
	_, err = list(again)
	require.NoError(t, err, "the cursor with the same filters")
	for _, field := range filters(t, base) {
		changed := proto.CloneOf(again)
		changed.ProtoReflect().Set(field, other(t, again.ProtoReflect(), field, others[field.Name()]))
		_, err := list(changed)
		failure, ok := problem.As(err)
		require.True(t, ok, "%s: %v", field.Name(), err)
		require.True(t, slices.ContainsFunc(failure.Violations, func(v problem.Violation) bool { return v.Field == "after" }),
			"the cursor is not bound to %s: %v", field.Name(), err)
	}
}

// EachFilter calls list for each filter of a list's request, with base and a value of that filter which no record has.
func EachFilter[Request proto.Message](t *testing.T, base Request, list func(t *testing.T, req Request)) {
	t.Helper()
	for _, field := range filters(t, base) {
		t.Run("by a "+string(field.Name())+" that no record has", func(t *testing.T) {
			req := proto.CloneOf(base)
			value := other(t, base.ProtoReflect(), field, nil)
			if field.Message() != nil {
				at := timestamppb.New(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))
				if strings.HasSuffix(string(field.Name()), "_before") {
					at = timestamppb.New(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
				}
				value = protoreflect.ValueOfMessage(at.ProtoReflect())
			}
			req.ProtoReflect().Set(field, value)
			list(t, req)
		})
	}
}

func filters(t *testing.T, req proto.Message) []protoreflect.FieldDescriptor {
	t.Helper()
	fields := slice(req.ProtoReflect().Descriptor().Fields())
	fields = slices.DeleteFunc(fields, func(field protoreflect.FieldDescriptor) bool {
		return slices.Contains(noFilters, field.Name())
	})
	require.NotEmpty(t, fields)
	return fields
}

func withAfter[Request proto.Message](base Request, cursor string) Request {
	changed := proto.CloneOf(base)
	m := changed.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("after"), protoreflect.ValueOfString(cursor))
	return changed
}

func slice(fields protoreflect.FieldDescriptors) []protoreflect.FieldDescriptor {
	list := make([]protoreflect.FieldDescriptor, fields.Len())
	for i := range list {
		list[i] = fields.Get(i)
	}
	return list
}

// other returns a value of the field that m does not have.
func other(t *testing.T, m protoreflect.Message, field protoreflect.FieldDescriptor, given any) protoreflect.Value {
	t.Helper()
	if given != nil {
		return protoreflect.ValueOf(given)
	}
	has := m.Get(field)
	switch {
	case field.IsList():
		list := m.NewField(field)
		list.List().Append(single(t, field, protoreflect.Value{}))
		return list
	case field.Message() != nil:
		moment := m.NewField(field)
		seconds := moment.Message().Descriptor().Fields().ByName("seconds")
		require.NotNil(t, seconds, "no other value for %s", field.Name())
		moment.Message().Set(seconds, protoreflect.ValueOfInt64(time.Now().Add(-time.Hour).Unix()))
		return moment
	default:
		return single(t, field, has)
	}
}

func single(t *testing.T, field protoreflect.FieldDescriptor, has protoreflect.Value) protoreflect.Value {
	t.Helper()
	switch field.Kind() { //nolint:exhaustive // A filter of another kind fails the test.
	case protoreflect.EnumKind:
		values := field.Enum().Values()
		for i := range values.Len() {
			if n := values.Get(i).Number(); n != 0 && (!has.IsValid() || n != has.Enum()) {
				return protoreflect.ValueOfEnum(n)
			}
		}
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!has.IsValid() || !has.Bool())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.StringKind:
		name := strings.TrimSuffix(string(field.Name()), "s")
		if strings.HasSuffix(name, "_id") && !strings.HasPrefix(name, "external_") {
			return protoreflect.ValueOfString(uuid.NewString())
		}
		return protoreflect.ValueOfString("another")
	}
	require.Fail(t, "no other value", "for %s", field.Name())
	return protoreflect.Value{}
}

// All reads a list to its end.
func All[T any](read func(after *string) (items []T, next *string)) (all []T) {
	items, next := read(nil)
	for all = items; next != nil; all = append(all, items...) {
		items, next = read(next)
	}
	return all
}
