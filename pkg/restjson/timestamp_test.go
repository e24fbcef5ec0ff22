package restjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestUnmarshalTimestamps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give string
		want *timestamppb.Timestamp // nil: refused
	}{
		{"seconds and Z", `"2024-05-31T10:15:30Z"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"a negative offset", `"2024-05-31T00:15:30-10:00"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"an offset of nothing", `"2024-05-31T10:15:30-00:00"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"nanoseconds", `"2024-05-31T10:15:30.123456789Z"`, &timestamppb.Timestamp{Seconds: 1717150530, Nanos: 123456789}},
		{"an escaped character", `"2024-05-31T10:15:30\u005a"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"the first instant", `"0001-01-01T00:00:00Z"`, &timestamppb.Timestamp{Seconds: -62135596800}},
		{"the last second", `"9999-12-31T23:59:59Z"`, &timestamppb.Timestamp{Seconds: 253402300799}},
		{"no zone", `"2024-05-31T10:15:30"`, nil},
		{"a date only", `"2024-05-31"`, nil},
		{"a space for the T", `"2024-05-31 10:15:30Z"`, nil},
		{"lower case", `"2024-05-31t10:15:30z"`, nil},
		{"a comma before the fraction", `"2024-05-31T10:15:30,5Z"`, nil},
		{"a fraction without digits", `"2024-05-31T10:15:30.Z"`, nil},
		{"an hour of one digit", `"2024-05-31T1:15:30Z"`, nil},
		{"an hour past 23", `"2024-05-31T24:00:00Z"`, nil},
		{"a day that is not in the month", `"2023-02-29T00:00:00Z"`, nil},
		{"an offset past 24 hours", `"2024-05-31T10:15:30+25:00"`, nil},
		{"an offset of 24 hours", `"2024-05-31T10:15:30+24:00"`, nil},
		{"an offset of 60 minutes", `"2024-05-31T10:15:30+01:60"`, nil},
		{"an offset without a colon", `"2024-05-31T10:15:30+0200"`, nil},
		{"the name of a zone", `"2024-05-31T10:15:30 UTC"`, nil},
		{"before the first instant once it is in UTC", `"0001-01-01T00:00:00+01:00"`, nil},
		{"past the last instant once it is in UTC", `"9999-12-31T23:59:59-01:00"`, nil},
		{"white space", `" 2024-05-31T10:15:30Z"`, nil},
		{"nothing", `""`, nil},
		{"NUL", `"2024-05-31T10:15:30Z\u0000"`, nil},
		{"seconds since 1970", `1717150530`, nil},
		{"an object", `{"seconds":1}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got ordersv1.ListOrdersRequest
			found := decode(`{"updatedSince":`+test.give+`}`, &got)
			require.True(t, proto.Equal(test.want, got.GetUpdatedSince()), "%v", got.GetUpdatedSince())
			if test.want == nil {
				require.Equal(t, []problem.Violation{invalid("updatedSince", wantTimestamp)}, found)
			} else {
				require.Empty(t, found)
			}
		})
	}
}
