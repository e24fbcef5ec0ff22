package conformance_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func testCancelling(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, 1, gift)
	order := f.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()))
	path := "/orders/" + idOf(order)
	requirement(t, "CAN-1", func(t *testing.T) { f.testReasons(t, path, "/orders/"+idOf(f.place(t))) })
	requirement(t, "CAN-2", func(t *testing.T) {
		waiting := newFixture(t, p, approving)
		require.Equal(t, "CANCELLED", waiting.cancel(t, "/orders/"+idOf(waiting.place(t)))["status"])
		require.Equal(t, "CANCELLED", f.cancel(t, path)["status"])
	})
	requirement(t, "CAN-3", func(t *testing.T) { require.Equal(t, []any{1.0}, f.stockOf(t, campaign)) })
	requirement(t, "CAN-4", func(t *testing.T) {
		f.requireStatusChange(t, idOf(order), "PROCESSING", "order.created", "order.status_changed")
	})
	requirement(t, "CAN-5", func(t *testing.T) {
		before := f.read(t, path)
		require.Equal(t, before, f.cancel(t, path))
		marker := f.place(t)
		f.requireEvents(t, f.key, idOf(marker), "order.created")
		f.requireEvents(t, f.key, idOf(order), "order.created", "order.status_changed")
	})
	requirement(t, "CAN-6", func(t *testing.T) {
		f.requireRefusedIn(t, "SENT", ":cancel", "not_cancellable")
		f.requireRefusedIn(t, "COMPLETED", ":cancel", "not_cancellable")
	})
}

// testReasons tries to cancel the first record without a good reason, and the second with the longest one.
func (f *fixture) testReasons(t *testing.T, refused, longest string) {
	t.Helper()
	for body, violation := range map[string]string{
		`{}`: "reason required", `{"reason": " "}`: "reason required", `{"reason": "` + freshText(1001) + `"}`: "reason too_long",
	} {
		f.Post(t, f.key, refused+":cancel", body).Invalid(t, violation)
	}
	require.Equal(t, http.StatusOK, f.Post(t, f.key, longest+":cancel", `{"reason": "`+freshText(1000)+`"}`).Status)
}

func testMessages(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order := idOf(f.place(t))
	path := "/orders/" + order + "/messages"
	requirement(t, "MSG-1", func(t *testing.T) {
		posted := f.Post(t, f.key, path, `{"body": "First."}`)
		require.Equal(t, http.StatusCreated, posted.Status, posted.Body)
		require.Equal(t, []string{"id"}, namesOf(posted.Object(t)))
		message := f.messages(t, f.key, order)[0]
		require.Equal(t, posted.Object(t)["id"], message["id"])
		require.Equal(t, record{"kind": "API_KEY", "name": "Conformance key"}, message["author"])
	})
	f.postMessageAs(t, order, f.member, "Second.")
	f.postMessageAs(t, order, operator, "Third.")
	requirement(t, "MSG-2", func(t *testing.T) {
		require.Equal(t, []any{"First.", "Second.", "Third."}, column(f.messages(t, f.key, order), "body"))
	})
	requirement(t, "MSG-3", func(t *testing.T) {
		_, err := f.Orders(t).AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
			Actor: operator, TenantId: f.tenant, OrderId: order, MessageId: uuid.NewString(), Body: "Between us.",
		})
		require.NoError(t, err)
		require.NotContains(t, f.Get(t, f.key, path).Body, "Between us.")
	})
	requirement(t, "MSG-4", func(t *testing.T) {
		for body, violation := range map[string]string{
			`{}`: "body required", `{"body": "  "}`: "body required", `{"body": "` + freshText(4001) + `"}`: "body too_long",
		} {
			f.Post(t, f.key, path, body).Invalid(t, violation)
		}
		require.Equal(t, http.StatusCreated, f.Post(t, f.key, path, `{"body": "`+freshText(4000)+`"}`).Status)
	})
	requirement(t, "MSG-5", func(t *testing.T) {
		upload := f.postCall(path, "--x\r\n\r\nphoto\r\n--x--")
		upload.Header = map[string]string{"Content-Type": "multipart/form-data; boundary=x"}
		f.Do(t, upload).Problem(t, "unsupported_media_type")
		require.Equal(t, http.StatusCreated, f.Post(t, f.key, path, `{"body": "See attached.", "attachments": ["photo"]}`).Status)
		messages := f.messages(t, f.key, order)
		require.NotContains(t, messages[len(messages)-1], "attachments")
	})
	requirement(t, "MSG-6", func(t *testing.T) {
		events := f.requireEvents(t, f.key, order, "order.created", "order.message_posted", "order.message_posted")
		require.Contains(t, events[1].Raw, "Second.")
		require.Contains(t, events[2].Raw, "Third.")
	})
}
