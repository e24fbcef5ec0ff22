package server_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestADeliveryIsShownAsItIsSent(t *testing.T) {
	t.Parallel()
	o := newOperations(t)
	get := func(written string) (body string, err error) {
		id := uuid.Must(uuid.NewV7()).String()
		ref := seal.EventRef{TenantID: tenant, EventID: id}
		sealed, _ := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys(written)), ref, "Happy birthday")
		_, err = o.store.FanOut(t.Context(), 0, []store.Event{{
			TenantID: tenant, ID: id, Type: "order.message_posted", BrandID: brand, SubjectID: uuid.NewString(),
			Body: sealed, KeyIDs: []int32{7},
		}})
		require.NoError(t, err)
		resp, err := o.GetDelivery(t.Context(), &webhookv1.GetDeliveryRequest{Actor: staff, TenantId: tenant, KeyId: 7, EventId: id})
		return string(resp.GetBody()), err
	}
	body, err := get("a")
	require.NoError(t, err)
	require.Contains(t, body, `"body":"Happy birthday"`)
	_, err = get("b")
	require.Equal(t, codes.Unavailable, status.Code(err), "its key is not in the ring")
}
