package restjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema has messages that are not supported.
const schema = `
name: "restjson/schema.proto" package: "schema" syntax: "proto3"
dependency: ["gifting/common/v1/options.proto", "google/protobuf/duration.proto"]
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
