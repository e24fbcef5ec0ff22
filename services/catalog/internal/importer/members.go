package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
)

// unknownMembers finds members of an object that a message does not have. The API ignores them, so that
// newer callers work. In a file they are mistakes: the member that was meant would be emptied.
func unknownMembers(value []byte, message protoreflect.MessageDescriptor) ([]problem.Violation, error) {
	var object any
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	var found []problem.Violation
	walk(object, message, "", func(path string) {
		found = append(found, invalid(path, "is not a member of a gift"))
	})
	slices.SortFunc(found, func(a, b problem.Violation) int { return strings.Compare(a.Field, b.Field) })
	return found, nil
}

// walk reports each unknown member, at any depth.
func walk(value any, message protoreflect.MessageDescriptor, path string, report func(path string)) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			walk(element, message, fmt.Sprintf("%s[%d]", path, i), report)
		}
	case map[string]any:
		for name, member := range value {
			at := name
			if path != "" {
				at = path + "." + name
			}
			field := message.Fields().ByJSONName(name)
			if field == nil {
				report(at)
			} else if field.Message() != nil {
				walk(member, field.Message(), at, report)
			}
		}
	}
}
