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

func TestAnErrorIsTheSameAfterGRPC(t *testing.T) {
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

func TestTheTextOfAForeignStatusIsHidden(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]problem.Code{
		codes.Unavailable:      problem.ServiceUnavailable,
		codes.DeadlineExceeded: problem.ServiceUnavailable,
		codes.Unimplemented:    problem.ServiceUnavailable,
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

// specified is the error table of the API specification in its order; after the gap are this platform's additions.
var specified = []struct {
	code   problem.Code
	status int
}{
	{"invalid_request", 400},
	{"idempotency_key_required", 400},
	{"idempotency_key_invalid", 400},
	{"invalid_api_key", 401},
	{"insufficient_scope", 403},
	{"not_found", 404},
	{"method_not_allowed", 405},
	{"not_acceptable", 406},
	{"idempotency_request_in_progress", 409},
	{"out_of_stock", 409},
	{"external_order_id_conflict", 409},
	{"not_editable", 409},
	{"not_cancellable", 409},
	{"version_conflict", 409},
	{"payload_too_large", 413},
	{"unsupported_media_type", 415},
	{"idempotency_key_reused", 422},
	{"brand_required", 422},
	{"brand_not_found", 422},
	{"brand_campaign_mismatch", 422},
	{"campaign_not_found", 422},
	{"campaign_not_active", 422},
	{"product_not_in_campaign", 422},
	{"product_not_available", 422},
	{"product_not_found", 422},
	{"not_deliverable_to_country", 422},
	{"invalid_variations", 422},
	{"invalid_custom_fields", 422},
	{"manager_not_found", 422},
	{"country_change_not_allowed", 422},
	{"no_products", 422},
	{"no_recipients", 422},
	{"too_many_recipients", 422},
	{"rate_limited", 429},
	{"internal_error", 500},

	{"service_unavailable", 503},
	{"range_not_satisfiable", 416},
	{"too_many_messages", 422},
	{"precondition_failed", 412},
	{"replay_too_large", 422},
}

func TestTheRegistryIsTheTableOfTheSpecification(t *testing.T) {
	t.Parallel()
	registry := problem.Registry()
	titles := map[string]problem.Code{}
	for i, info := range registry {
		require.Less(t, i, len(specified), "%s is not specified", info.Code)
		require.Equal(t, specified[i].code, info.Code, "row %d", i)
		require.Equal(t, specified[i].status, info.Status, info.Code)
		require.NotEmpty(t, info.Title, info.Code)
		require.Empty(t, titles[info.Title], "%s has the title of another", info.Code)
		titles[info.Title] = info.Code
	}
	require.Len(t, registry, len(specified))
}
