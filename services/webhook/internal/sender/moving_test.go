package sender

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestTheDeliveriesOfATenantThatArrivesAreSentSoon(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7)
	f.cell = identity.Cell{Letter: "b"}
	cells := make(chan string, 100)
	f.directory.OnCall(func(_ context.Context, req proto.Message) error {
		if get, ok := req.(*tenantsv1.GetEndpointsRequest); ok {
			cells <- get.GetCell()
		}
		return nil
	})
	f.heartbeat = heartbeat
	f.store = store.New(f.pool) // The clock of the database.
	pgtest.Exec(t, f.pool, `SELECT hold_deliveries($1, '{7}')`, tenant)
	id := f.event(7)
	pgtest.Exec(t, f.pool, `INSERT INTO pauses VALUES ($1, 7, now() + interval '15 seconds')`, tenant)
	s := f.startAt(time.Now)
	before := pgtest.Value[string](t, f.pool, `SELECT row_to_json(d)::text FROM deliveries d`)
	s.Notify(f.due(7))
	s.Wake()
	require.Never(t, func() bool { return len(receiver.Arrivals()) > 0 }, time.Second, pollInterval)
	require.Equal(t, before, pgtest.Value[string](t, f.pool, `SELECT row_to_json(d)::text FROM deliveries d`), "a copy is not changed")
	require.Empty(t, cells)

	began := time.Now()
	pgtest.Exec(t, f.pool, `SELECT release_deliveries($1)`, tenant)
	f.waitFor(id, 7, inState("DELIVERED"))
	require.Less(t, time.Since(began), heartbeat+2*time.Second)
	require.Equal(t, "b", <-cells)
}
