package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestAPlayerCanThankUntilAMonthAfterTheDelivery(t *testing.T) {
	t.Parallel()
	delivered := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	changes := []StatusChange{{At: timestamppb.New(delivered), Before: sent, After: completed}}
	for name, tc := range map[string]struct {
		status  ordersv1.OrderStatus
		erased  bool
		changes []StatusChange
		now     time.Time
		accepts bool
	}{
		"while it is packed":       {status: processing, now: delivered, accepts: true},
		"while it waits again":     {status: requested, now: delivered, accepts: true},
		"on its way, however long": {status: sent, now: delivered.AddDate(1, 0, 0), accepts: true},
		"delivered":                {status: completed, changes: changes, now: delivered, accepts: true},
		"just before a month is over": {
			status: completed, changes: changes, now: delivered.AddDate(0, 1, 0).Add(-1), accepts: true,
		},
		"a month after":                         {status: completed, changes: changes, now: delivered.AddDate(0, 1, 0)},
		"delivered at a time that is not known": {status: completed, now: delivered},
		"cancelled":                             {status: cancelled, now: delivered},
		"erased":                                {status: processing, erased: true, now: delivered},
	} {
		err := RefuseThanks(&ordersv1.Order{Status: tc.status}, tc.erased, tc.changes, tc.now)
		if tc.accepts {
			require.NoError(t, err, name)
			continue
		}
		require.True(t, problem.Is(err, problem.NotEditable), "%s: %v", name, err)
	}
}

func TestAWordOfThanksIsAShortText(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		"Tack så mycket! 🎁": "", strings.Repeat("å", 280): "", strings.Repeat("å", 281): problem.FieldTooLong,
		" \u200b ": problem.FieldRequired, "two\nlines": "", "\x07": problem.FieldInvalid,
	} {
		errs := &fields.Errors{}
		CheckThanks(text, errs)
		var got string
		for _, v := range errs.List() {
			require.Equal(t, "text", v.Field)
			got = v.Code
		}
		require.Equal(t, code, got, "%q", text)
	}
}
