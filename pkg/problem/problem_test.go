package problem_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/problem"
)

func TestAnErrorSurvivesTheJourneyOverGRPC(t *testing.T) {
	t.Parallel()
	for _, info := range problem.Registry() {
		t.Run(string(info.Code), func(t *testing.T) {
			sent := &problem.Error{
				Code:          info.Code,
				Detail:        "why",
				Violations:    []problem.Violation{{Field: "items[0].budget", Code: problem.FieldInvalid, Message: "must be positive"}},
				CurrentStatus: "SENT",
				OrderID:       "0198",
				RetryAfter:    2 * time.Second,
				Instance:      "4bf9",
			}
			wire := status.Convert(sent)
			require.Equal(t, info.GRPC, wire.Code())
			require.Equal(t, sent, problem.FromStatus(wire))
		})
	}
}

func TestAStatusOfAnotherOriginNeverShowsItsText(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]problem.Code{
		codes.Unavailable:      problem.ServiceUnavailable,
		codes.DeadlineExceeded: problem.ServiceUnavailable,
		codes.Unknown:          problem.InternalError,
		codes.InvalidArgument:  problem.InternalError,
	} {
		got := problem.FromStatus(status.New(code, "pq: password of user is hunter2"))
		require.Equal(t, want, got.Code)
		require.NotContains(t, got.Detail, "hunter2")
	}
}

func TestAWrappedErrorIsFound(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("place order: %w", problem.New(problem.OutOfStock, "none left"))
	require.True(t, problem.Is(err, problem.OutOfStock))
	require.False(t, problem.Is(errors.New("other"), problem.OutOfStock))
}

func TestAnUnregisteredCodeCountsAsInternalError(t *testing.T) {
	t.Parallel()
	require.Equal(t, problem.InternalError, problem.Lookup("no_such_code").Code)
}
