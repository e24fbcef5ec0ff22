package fanout

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	waitLimit    = 10 * time.Second
	pollInterval = time.Millisecond
)

func TestALookupOfManyTenantsIsSplitIntoSeveralCalls(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var sizes []int
	f.directory.OnCall(func(_ context.Context, req proto.Message) error {
		sizes = append(sizes, len(req.(*tenantsv1.ListEndpointsRequest).GetTenantIds()))
		return nil
	})
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	known := newChange("order.created", 0)
	changes := []*eventsv1.Change{known}
	for range 2 * maxTenants {
		c := newChange("order.created", 0)
		c.TenantId = uuid.NewString()
		changes = append(changes, c)
	}
	require.NoError(t, f.fan.Handle(t.Context(), 0, messages(t, changes...)))
	require.Equal(t, []int{maxTenants, maxTenants, 1}, sizes)
	require.Equal(t, map[string][]int32{known.GetEventId(): {1}}, f.deliveries())
}
