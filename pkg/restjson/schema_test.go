package restjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema has kinds of fields that the platform's own messages do not use.
const schema = `
name: "restjson/schema.proto" package: "schema" syntax: "proto3"
dependency: ["gifting/common/v1/options.proto", "google/protobuf/timestamp.proto", "google/protobuf/duration.proto"]
enum_type { name: "APIColour" options { allow_alias: true }
  value { name: "API_COLOUR_UNSPECIFIED" number: 0 } value { name: "API_COLOUR_RED" number: 1 }
  value { name: "API_COLOUR_CRIMSON" number: 1 } value { name: "PLAIN_BLUE" number: 2 } }
message_type { name: "Scalars"
  field { name: "a_bool" number: 1 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "an_int32" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "an_int64" number: 3 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "a_text" number: 8 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "a_colour" number: 10 type: TYPE_ENUM type_name: ".schema.APIColour" label: LABEL_OPTIONAL } }
message_type { name: "Lists"
  field { name: "texts" number: 1 type: TYPE_STRING label: LABEL_REPEATED }
  field { name: "numbers" number: 2 type: TYPE_INT32 label: LABEL_REPEATED }
  field { name: "colours" number: 3 type: TYPE_ENUM type_name: ".schema.APIColour" label: LABEL_REPEATED }
  field { name: "times" number: 4 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_REPEATED }
  field { name: "nested" number: 5 type: TYPE_MESSAGE type_name: ".schema.Lists" label: LABEL_REPEATED }
  field { name: "inner" number: 6 type: TYPE_MESSAGE type_name: ".schema.Numbers" label: LABEL_REPEATED } }
message_type { name: "Numbers" options { [gifting.common.v1.inline]: true }
  field { name: "all" number: 1 type: TYPE_INT32 label: LABEL_REPEATED } }
message_type { name: "Maps"
  field { name: "counts" number: 1 type: TYPE_MESSAGE type_name: ".schema.Maps.CountsEntry" label: LABEL_REPEATED }
  field { name: "children" number: 2 type: TYPE_MESSAGE type_name: ".schema.Maps.ChildrenEntry" label: LABEL_REPEATED }
  nested_type { name: "CountsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL } }
  nested_type { name: "ChildrenEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".schema.Scalars" label: LABEL_OPTIONAL } } }
message_type { name: "Choice"
  field { name: "before" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "a_text" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "a_message" number: 3 type: TYPE_MESSAGE type_name: ".schema.Numbers" label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "after" number: 4 type: TYPE_BOOL label: LABEL_OPTIONAL }
  oneof_decl { name: "choice" } }
message_type {
  name: "Waits"
  field { name: "wait" number: 1 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL }
}
message_type { name: "Fraction" field { name: "a_double" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL } }
message_type { name: "Numbered"
  field { name: "names" number: 1 type: TYPE_MESSAGE type_name: ".schema.Numbered.NamesEntry" label: LABEL_REPEATED }
  nested_type { name: "NamesEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL } } }
message_type { name: "TwoInline" options { [gifting.common.v1.inline]: true }
  field { name: "a" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "b" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL } }
`

// newOf makes an empty message of the schema.
func newOf(t testing.TB, name protoreflect.Name) *dynamicpb.Message {
	t.Helper()
	var file descriptorpb.FileDescriptorProto
	require.NoError(t, prototext.Unmarshal([]byte(schema), &file))
	desc, err := protodesc.NewFile(&file, protoregistry.GlobalFiles)
	require.NoError(t, err)
	return dynamicpb.NewMessage(desc.Messages().ByName(name))
}

// textOf makes a message of the schema from its text form.
func textOf(t testing.TB, name protoreflect.Name, text string) *dynamicpb.Message {
	t.Helper()
	m := newOf(t, name)
	mustText(t, text, m)
	return m
}

func mustText(t testing.TB, text string, m proto.Message) {
	t.Helper()
	require.NoError(t, prototext.Unmarshal([]byte(text), m))
}
