package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestMilestonesAreThoseOfTheCurrentWayOfAnOrder(t *testing.T) {
	t.Parallel()
	const none = 0
	type statuses = []ordersv1.OrderStatus
	for name, tc := range map[string]struct {
		way             statuses
		sent, delivered int // The number of the change, from 1; none: it has not happened.
	}{
		"not changed":                        {statuses{processing}, none, none},
		"approved":                           {statuses{requested, processing}, none, none},
		"sent":                               {statuses{requested, processing, sent}, 2, none},
		"delivered":                          {statuses{processing, sent, completed}, 1, 2},
		"cancelled":                          {statuses{processing, cancelled}, none, none},
		"delivered without having been sent": {statuses{processing, completed}, none, 1},
		"not delivered after all":            {statuses{processing, sent, completed, sent}, 1, none},
		"delivered later":                    {statuses{processing, sent, completed, sent, completed}, 1, 4},
		"not sent after all":                 {statuses{processing, sent, processing}, none, none},
		"sent again":                         {statuses{processing, sent, completed, processing, sent}, 4, none},
		"sent, set back, and delivered":      {statuses{processing, sent, processing, completed}, none, 3},
		"delivered, then cancelled":          {statuses{processing, sent, completed, cancelled}, none, none},
		"reopened as sent":                   {statuses{processing, cancelled, sent}, 2, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			times := make([]*timestamppb.Timestamp, len(tc.way)) // That of none stays nil.
			var changes []StatusChange
			for i := 1; i < len(tc.way); i++ {
				times[i] = &timestamppb.Timestamp{Seconds: int64(i)}
				changes = append(changes, StatusChange{At: times[i], Before: tc.way[i-1], After: tc.way[i]})
			}
			require.Equal(t, Milestones{SentAt: times[tc.sent], DeliveredAt: times[tc.delivered]}, MilestonesOf(changes))
		})
	}
}
