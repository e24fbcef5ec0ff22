// Package fieldstest compares the checks of requests with the lengths that the protocol files allow (option max_length).
package fieldstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// RequireLimits requires that check accepts texts of max_length characters in m and in the messages that m has, and reports all
// longer ones. The texts of the fields except stay unchanged.
func RequireLimits(t *testing.T, m proto.Message, check func(errs *fields.Errors), except ...protoreflect.Name) {
	t.Helper()
	for extra := range 2 {
		paths, errs := fill(m.ProtoReflect(), "", extra, except), &fields.Errors{}
		require.NotEmpty(t, paths)
		check(errs)
		for _, path := range paths {
			tooLong := slices.ContainsFunc(errs.List(), func(v problem.Violation) bool {
				return v.Field == path && v.Code == problem.FieldTooLong
			})
			require.Equal(t, extra > 0, tooLong, "%s with max_length and %d characters more", path, extra)
		}
	}
}

// fill makes each text as long as its max_length and extra characters more, and returns the paths of the texts.
func fill(m protoreflect.Message, at string, extra int, except []protoreflect.Name) (paths []string) {
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		path, limit := at+field.JSONName(), proto.GetExtension(field.Options(), commonv1.E_MaxLength).(int32)
		text := protoreflect.ValueOf(strings.Repeat("å", int(limit)+extra))
		switch {
		case field.IsMap(): // No text of a map has a limit.
		case field.IsList():
			for j := range m.Get(field).List().Len() {
				paths = append(paths, fill(m.Get(field).List().Get(j).Message(), fmt.Sprintf("%s[%d].", path, j), extra, except)...)
			}
		case field.Message() != nil && m.Has(field):
			paths = append(paths, fill(m.Get(field).Message(), path+".", extra, except)...)
		case limit > 0 && !slices.Contains(except, field.Name()):
			m.Set(field, text)
			paths = append(paths, path)
		}
	}
	return paths
}
