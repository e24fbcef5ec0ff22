package rules_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/enumname"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

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
	require.Equal(t, want, string(got))
}

func documentOfStates() string {
	var b strings.Builder
	b.WriteString("# What may be done to an order\n\n" +
		"Made from `internal/rules/states.go` by `go test ./internal/rules -run DocumentOfStates -write`. A cell shows the\n" +
		"status after and the event recorded. \"nothing\" means that the call succeeds and changes nothing. A code is that of\n" +
		"the problem answered.\n\n| action |")
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
