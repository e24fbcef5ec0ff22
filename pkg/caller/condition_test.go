package caller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func order() *ordersv1.Order {
	return &ordersv1.Order{
		Id: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", Version: 3,
		UpdatedAt: timestamppb.New(time.Date(2026, 11, 20, 12, 0, 0, 123_456_000, time.UTC)),
	}
}

func TestTheStateOfAnOrderChangesWithIDVersionAndTime(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, change := range map[string]func(o *ordersv1.Order){
		"the order":       func(*ordersv1.Order) {},
		"another order":   func(o *ordersv1.Order) { o.Id = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10" },
		"another version": func(o *ordersv1.Order) { o.Version++ },
		"a version that is used again after a restore": func(o *ordersv1.Order) {
			o.UpdatedAt = timestamppb.New(o.GetUpdatedAt().AsTime().Add(time.Microsecond))
		},
	} {
		o := order()
		change(o)
		state := caller.OrderState(o)
		require.Empty(t, seen[state], name)
		seen[state] = name
		require.Equal(t, state, caller.OrderState(proto.CloneOf(o)))
	}
}

func TestATagChangesWithStateAndBody(t *testing.T) {
	t.Parallel()
	tags := map[string]bool{}
	for _, state := range []string{"", "a", "b"} {
		for _, body := range []string{"", "{}", "{ }"} {
			tag := caller.NewETag(state, []byte(body))
			require.Regexp(t, `^"[A-Za-z0-9_.-]+"$`, tag)
			tags[tag] = true
		}
	}
	require.Len(t, tags, 9)
}

func parse(t *testing.T, values ...string) *caller.Condition {
	t.Helper()
	c, ok := caller.ParseCondition(values)
	require.True(t, ok, values)
	return c
}

func TestHeadersAreReadByTheGrammar(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`"x", `, 100)
	for _, tc := range []struct {
		values []string
		want   *caller.Condition
	}{
		{nil, nil},
		{[]string{"*"}, &caller.Condition{Any: true}},
		{[]string{" *\t"}, &caller.Condition{Any: true}},
		{[]string{`"a"`}, &caller.Condition{Tags: []string{`"a"`}}},
		{[]string{`W/"a"`}, &caller.Condition{Tags: []string{`W/"a"`}}},
		{[]string{`""`}, &caller.Condition{Tags: []string{`""`}}},
		{[]string{`"a,b" ,	"c"`}, &caller.Condition{Tags: []string{`"a,b"`, `"c"`}}},
		{[]string{`"a"`, `W/"b"`}, &caller.Condition{Tags: []string{`"a"`, `W/"b"`}}},
		{[]string{`"a",, ,"b",`}, &caller.Condition{Tags: []string{`"a"`, `"b"`}}},
		{[]string{"", `"a"`}, &caller.Condition{Tags: []string{`"a"`}}},
		{[]string{"\"\xe9\""}, &caller.Condition{Tags: []string{"\"\xe9\""}}},
	} {
		require.Equal(t, tc.want, parse(t, tc.values...), "%q", tc.values)
	}
	require.Len(t, parse(t, long).Tags, 100)
	for _, wrong := range []string{
		"", " ", ",", "a", `"a`, `a"`, `"a" "b"`, `"a"b`, `w/"a"`, `W/ "a"`, `W/a`, `*, "a"`, `"a", *`, "*,", ",*",
		"\"a b\"", "\"a\x7f\"", `"a"; q=1`,
		long + `"y"`,
	} {
		_, ok := caller.ParseCondition([]string{wrong})
		require.False(t, ok, "%q", wrong)
	}
}

func FuzzWhatIsReadMeansTheSameWhenItIsWritten(f *testing.F) {
	for _, seed := range []string{`"a", W/"b"`, "*", `"a,b"`, `""`, `W/"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c, ok := caller.ParseCondition([]string{header})
		if !ok || c.Any {
			return
		}
		again, ok := caller.ParseCondition([]string{strings.Join(c.Tags, ", ")})
		require.True(t, ok)
		require.Equal(t, c, again)
	})
}

func TestConditionsAreStrongForChangesAndWeakForReads(t *testing.T) {
	t.Parallel()
	state := caller.OrderState(order())
	tag := caller.NewETag(state, []byte("body"))
	for _, tc := range []struct {
		header       []string
		state, weak  bool
		anotherState bool
	}{
		{nil, true, false, true},
		{[]string{"*"}, true, true, true},
		{[]string{tag}, true, true, false},
		{[]string{`"x", ` + tag}, true, true, false},
		{[]string{"W/" + tag}, false, true, false},
		{[]string{caller.NewETag(state, []byte("the body of another version of the gateway"))}, true, false, false},
		{[]string{caller.NewETag("", []byte("body"))}, false, false, false},
		{[]string{`"` + state + `"`}, false, false, false},
		{[]string{`""`}, false, false, false},
	} {
		t.Run(fmt.Sprint(tc.header), func(t *testing.T) {
			c := parse(t, tc.header...)
			require.Equal(t, tc.state, c.HasState(state))
			require.Equal(t, tc.anotherState, c.HasState("another"))
			require.Equal(t, tc.weak, c.HasWeakly(tag))
		})
	}
}
