package openapi

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// addLengths gives the texts of requests the maxLength that the protocol files say. A schema has the name of its message.
func addLengths(root *yaml.Node) {
	schemas := member(member(root, "components"), "schemas")
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "gifting.") {
			for i := range file.Messages().Len() {
				message := file.Messages().Get(i)
				addLengthsOf(message, member(member(schemas, string(message.Name())), "properties"))
			}
		}
		return true
	})
}

func addLengthsOf(message protoreflect.MessageDescriptor, properties *yaml.Node) {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		property := member(properties, field.JSONName())
		if limit := proto.GetExtension(field.Options(), commonv1.E_MaxLength).(int32); limit > 0 && property != nil {
			length := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(int(limit))}
			property.Content = slices.Insert(property.Content, 2, scalar("maxLength"), length) // After the type.
		}
	}
}
