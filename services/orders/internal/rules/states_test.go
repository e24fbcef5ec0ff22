package rules_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// TestEveryActionInEveryStatus compares the state machine with the API specification, section
// States and transitions: the status after, ! for a refusal and = for no change.
func TestEveryActionInEveryStatus(t *testing.T) {
	t.Parallel()
	for action, row := range map[rules.Action][5]string{
		// REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED
		rules.Approve:         {"PROCESSING", "=", "!not_editable", "!not_editable", "!not_editable"},
		rules.Dispatch:        {"!not_editable", "SENT", "!not_editable", "!not_editable", "!not_editable"},
		rules.Deliver:         {"!not_editable", "!not_editable", "COMPLETED", "=", "!not_editable"},
		rules.CorrectDelivery: {"!not_editable", "PROCESSING", "!not_editable", "!not_editable", "!not_editable"},
		rules.CorrectTracking: {"!not_editable", "!not_editable", "SENT", "!not_editable", "!not_editable"},
		rules.Cancel:          {"CANCELLED", "CANCELLED", "!not_cancellable", "!not_cancellable", "="},
	} {
		for i, status := range rules.Statuses() {
			t.Run(string(action)+" "+enumname.String(status), func(t *testing.T) {
				current, _ := stored(status)
				change, err := current.Apply(action, corrected, nil)
				require.Equal(t, row[i], outcome(t, change, err))
				if change == nil {
					return
				}
				require.EqualValues(t, 4, change.Record.GetVersion())
				if change.Record.GetStatus() == status {
					require.Equal(t, rules.Event{Type: "order.updated", OccurredAt: corrected, Data: change.Record}, change.Event)
					return
				}
				require.Equal(t, "order.status_changed", change.Event.Type)
				data, ok := change.Event.Data.(*ordersv1.OrderStatusChanged)
				require.True(t, ok)
				require.Equal(t, status, data.GetPreviousStatus())
				require.Same(t, change.Record, data.GetOrder())
			})
		}
	}
	require.Zero(t, rules.StepOf(rules.Cancel, ordersv1.OrderStatus_ORDER_STATUS_UNSPECIFIED))
}

func outcome(t *testing.T, change *rules.Change, err error) string {
	t.Helper()
	if err != nil {
		p, ok := problem.As(err)
		require.True(t, ok)
		require.NotEmpty(t, p.CurrentStatus)
		return "!" + string(p.Code)
	}
	if change == nil {
		return "="
	}
	return enumname.String(change.Record.GetStatus())
}

func TestLaterChangesOfARecordHaveLaterTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	require.Equal(t, at.Add(1), rules.Later(at.Add(1), at))
	require.Equal(t, at.Add(time.Microsecond), rules.Later(at, at))
	require.Equal(t, at.Add(time.Microsecond), rules.Later(at.Add(-time.Hour), at))

	current, _ := stored(ordersv1.OrderStatus_ORDER_STATUS_PROCESSING)
	current.Record.UpdatedAt = timestamppb.New(corrected.Add(time.Hour))
	change, err := current.Apply(rules.Cancel, corrected, nil)
	require.NoError(t, err)
	require.Equal(t, corrected.Add(time.Hour+time.Microsecond), change.Record.GetUpdatedAt().AsTime())
}

var write = flag.Bool("write", false, "write STATES.md")

const statesDocument = "../../STATES.md"

// TestTheDocumentOfStatesIsMadeFromTheTable: after a change of the state machine run it with -write.
func TestTheDocumentOfStatesIsMadeFromTheTable(t *testing.T) {
	t.Parallel()
	want := documentOfStates()
	if *write {
		require.NoError(t, os.WriteFile(statesDocument, []byte(want), 0o600))
	}
	got, err := os.ReadFile(statesDocument)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run `go test ./services/orders/internal/rules -run DocumentOfStates -write`")
}

func documentOfStates() string {
	var b strings.Builder
	b.WriteString("# What may be done to an order\n\n" +
		"Generated from `internal/rules/states.go` by `go test ./internal/rules -run DocumentOfStates -write`. A cell shows the\n" +
		"next status and the recorded event. \"nothing\" means that the call succeeds and changes nothing. A code means that\n" +
		"the call fails with this error.\n\n| action |")
	for _, s := range rules.Statuses() {
		b.WriteString(" `" + enumname.String(s) + "` |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(rules.Statuses())) + "\n")
	for _, action := range rules.Actions() {
		b.WriteString("| " + string(action) + " |")
		for _, s := range rules.Statuses() {
			b.WriteString(" " + cellOf(action, s) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func cellOf(action rules.Action, status ordersv1.OrderStatus) string {
	step := rules.StepOf(action, status)
	switch {
	case step.Outcome == rules.Refused:
		return string(step.Problem)
	case step.Outcome == rules.Unchanged:
		return "nothing"
	case action == rules.CorrectStatus:
		return "any, `" + step.Event + "`"
	case step.Next != ordersv1.OrderStatus_ORDER_STATUS_UNSPECIFIED:
		return "`" + enumname.String(step.Next) + "`, `" + step.Event + "`"
	case step.Event == "":
		return "stays"
	}
	return "stays, `" + step.Event + "`"
}
