package giftingctl

import (
	"errors"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Messages without flags for their fields: a time and a duration are one text, the actor comes from the context.
const (
	timestampName = "google.protobuf.Timestamp"
	durationName  = "google.protobuf.Duration"
	actorName     = "gifting.common.v1.Actor"
)

// field is a field of a request that the command line can set. It is a pflag.Value.
type field struct {
	// path leads from the request to the field. key is its name in the table of calls, such as order.client.name, and name that
	// of its flag, such as client.name.
	path      []protoreflect.FieldDescriptor
	key, name string
	values    []string
}

// fieldsOf lists the fields of a message that hold texts, numbers or lists, also of messages inside it. The name of a field begins
// with the names of the messages around it, without the one that flatten names.
func fieldsOf(message protoreflect.MessageDescriptor, flatten string) []*field {
	return appendFields(nil, message, nil, flatten)
}

func appendFields(
	to []*field, message protoreflect.MessageDescriptor, path []protoreflect.FieldDescriptor, flatten string,
) []*field {
	for i := range message.Fields().Len() {
		fd := message.Fields().Get(i)
		below := append(path[:len(path):len(path)], fd)
		if isText(fd) {
			to = append(to, newField(below, flatten))
			continue
		}
		if fd.Message().FullName() != actorName {
			to = appendFields(to, fd.Message(), below, flatten)
		}
	}
	return to
}

// isText reports whether a field is written as text, not by the fields of its message.
func isText(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() == nil || fd.IsList() || fd.IsMap() ||
		fd.Message().FullName() == timestampName || fd.Message().FullName() == durationName
}

func newField(path []protoreflect.FieldDescriptor, flatten string) *field {
	var words []string
	for _, fd := range path {
		words = append(words, string(fd.Name()))
	}
	f := &field{path: path, key: strings.Join(words, ".")}
	f.name = word(strings.TrimPrefix(f.key, flatten+"."))
	return f
}

// word is how the command line spells a name of the contract.
func word(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }

// descriptor is that of the field itself, the last one of its path.
func (f *field) descriptor() protoreflect.FieldDescriptor { return f.path[len(f.path)-1] }

// String implements pflag.Value.
func (f *field) String() string { return strings.Join(f.values, ",") }

var errGivenTwice = errors.New("it takes one value and is given twice")

// Set implements pflag.Value.
func (f *field) Set(text string) error {
	if len(f.values) > 0 && !f.descriptor().IsList() && !f.descriptor().IsMap() {
		return errGivenTwice
	}
	f.values = append(f.values, text)
	return nil
}

// Type implements pflag.Value: what the help shows after the name of the flag.
func (f *field) Type() string {
	fd := f.descriptor()
	switch {
	case fd.IsMap():
		return "name=value"
	case fd.IsList() && fd.Message() != nil:
		return "name=value,..."
	case fd.Enum() != nil:
		return "word"
	case fd.Kind() == protoreflect.BytesKind:
		return "file"
	case fd.Kind() == protoreflect.BoolKind:
		return "bool"
	case fd.Message() != nil && fd.Message().FullName() == timestampName:
		return "time"
	case fd.Message() != nil:
		return "duration"
	case fd.Kind() != protoreflect.StringKind:
		return "number"
	}
	return "text"
}

// help says what the field can hold.
func (f *field) help() string {
	fd := f.descriptor()
	switch {
	case fd.Enum() != nil && fd.IsList():
		return "any of " + strings.Join(choices(fd), ", ")
	case fd.Enum() != nil:
		return strings.Join(choices(fd), ", ")
	case fd.IsList() && fd.Message() != nil:
		var names []string
		for _, inner := range fieldsOf(fd.Message(), "") {
			names = append(names, inner.name)
		}
		return "may be repeated; a JSON object, or values of " + strings.Join(names, ", ")
	case fd.IsList() && commaSeparated(fd):
		return "separated by commas; may be repeated"
	case fd.IsList() || fd.IsMap():
		return "may be repeated, once for each entry"
	case f.Type() == "time":
		return "such as 2026-01-31 or 2026-01-31T12:00:00Z"
	case f.Type() == "duration":
		return "such as 36h or 30d"
	case f.Type() == "file":
		return "- is the standard input"
	}
	if limit, _ := proto.GetExtension(fd.Options(), commonv1.E_MaxLength).(int32); limit > 0 {
		return "at most " + protoreflect.ValueOfInt32(limit).String() + " characters"
	}
	return ""
}

// choices are the words of an enum.
func choices(fd protoreflect.FieldDescriptor) []string {
	var all []string
	for _, name := range enumname.Of(fd.Enum()).All() {
		all = append(all, word(name))
	}
	return all
}
