package sender

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestAResultTheDatabaseRefusesDoesNotKeepOthersFromBeingRecorded(t *testing.T) {
	st := store.New(pgtest.New(t, store.Migrations()))
	const tenant, deliveries = "0190aaaa-0000-7000-8000-000000000001", 3
	require.NoError(t, st.FanOut(t.Context(), []store.Event{{
		TenantID: tenant, ID: uuid.NewString(), Type: "order.created", Body: []byte("{}"), KeyIDs: []int32{1, 2, 3},
	}}, nil))
	claimed, err := st.Claim(t.Context(), store.ClaimRequest{Lease: time.Minute, Limit: deliveries, PerEndpoint: 1})
	require.NoError(t, err)
	require.Len(t, claimed.Deliveries, deliveries)

	r := newRecorder(st, deliveries)
	batch := make([]recording, deliveries)
	for i, d := range claimed.Deliveries {
		batch[i] = recording{
			result: store.Result{
				Delivery: d, Verdict: rules.Verdict{State: rules.Failed, Counted: true},
				Attempt: store.Attempt{StartedAt: time.Now(), Outcome: rules.Answered(500)},
			},
			done: make(chan error, 1),
		}
	}
	batch[1].result.Attempt.Outcome.Problem = "no text: \x00"
	batch[2].result.Delivery.Token = uuid.NewString()
	r.commit(t.Context(), batch)
	require.NoError(t, <-batch[0].done)
	require.Error(t, <-batch[1].done)
	require.ErrorIs(t, <-batch[2].done, store.ErrLeaseLost)
}
