package fields

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// MaxLength returns how many Unicode code points a text of a request may have (API specification, section Limits). member is its
// name in JSON. The protocol file says the limit, with the option max_length; a member without it panics.
func MaxLength(request proto.Message, member string) int {
	field := request.ProtoReflect().Descriptor().Fields().ByJSONName(member)
	if field == nil || !proto.HasExtension(field.Options(), commonv1.E_MaxLength) {
		panic(fmt.Sprintf("%s of %T has no max_length", member, request))
	}
	return int(proto.GetExtension(field.Options(), commonv1.E_MaxLength).(int32))
}
