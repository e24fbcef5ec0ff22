package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func (p *platform) promisesOfCancelling(t *testing.T) {
	s := p.newShop(t, false)
	gift := p.putGift(t, "S")
	campaign := s.campaign(t, 1, gift)
	order := s.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()))
	path := "/orders/" + idOf(order)
	t.Run("a reason is required and has at most 1000 characters", func(t *testing.T) { s.promiseOfReasons(t, path, "/orders/"+idOf(s.place(t))) })
	t.Run("an order that waits or is in process becomes CANCELLED", func(t *testing.T) {
		waiting := p.newShop(t, true)
		require.Equal(t, "CANCELLED", waiting.cancel(t, "/orders/"+idOf(waiting.place(t)))["status"])
		require.Equal(t, "CANCELLED", s.cancel(t, path)["status"])
	})
	t.Run("its stock is released", func(t *testing.T) { require.Equal(t, []any{1.0}, left(s.offerings(t, campaign.GetId(), "")[0])) })
	t.Run("order.status_changed is recorded", func(t *testing.T) {
		s.changed(t, idOf(order), "PROCESSING", "order.created", "order.status_changed")
	})
	t.Run("one already cancelled answers 200 unchanged, without an event", func(t *testing.T) {
		before := s.read(t, path)
		require.Equal(t, before, s.cancel(t, path))
		marker := s.place(t)
		s.recorded(t, s.key, idOf(marker), "order.created")
		s.recorded(t, s.key, idOf(order), "order.created", "order.status_changed")
	})
	t.Run("one that was sent is not cancellable and tells its status", func(t *testing.T) {
		s.refusesIn(t, "SENT", ":cancel", "not_cancellable")
		s.refusesIn(t, "COMPLETED", ":cancel", "not_cancellable")
	})
}

// promiseOfReasons tries to cancel the first record without a good reason, and the second with the longest one.
func (s *shop) promiseOfReasons(t *testing.T, refused, longest string) {
	t.Helper()
	for body, fault := range map[string]string{
		`{}`: "reason required", `{"reason": " "}`: "reason required", `{"reason": "` + fresh(1001) + `"}`: "reason too_long",
	} {
		problem := requireProblem(t, s.post(t, s.key, refused+":cancel", body), http.StatusBadRequest, "invalid_request")
		require.Equal(t, []string{fault}, faults(t, problem))
	}
	require.Equal(t, http.StatusOK, s.post(t, s.key, longest+":cancel", `{"reason": "`+fresh(1000)+`"}`).status)
}

// messages gives those of the order.
func (s *shop) messages(t *testing.T, key, orderID string) []map[string]any {
	t.Helper()
	a := s.get(t, key, "/orders/"+orderID+"/messages")
	require.Equal(t, http.StatusOK, a.status, a.body)
	return answer{body: `{"items":` + a.body + `}`}.items(t)
}

func (p *platform) promisesOfMessages(t *testing.T) {
	s := p.newShop(t, false)
	order := idOf(s.place(t))
	path := "/orders/" + order + "/messages"
	t.Run("a message is posted as the key and answers 201 with its id", func(t *testing.T) {
		posted := s.post(t, s.key, path, `{"body": "First."}`)
		require.Equal(t, http.StatusCreated, posted.status, posted.body)
		require.Equal(t, []string{"id"}, namesOf(posted.object(t)))
		message := s.messages(t, s.key, order)[0]
		require.Equal(t, posted.object(t)["id"], message["id"])
		require.Equal(t, map[string]any{"kind": "API_KEY", "name": "Conformance key"}, message["author"])
	})
	s.write(t, order, s.member, "Second.")
	s.write(t, order, clerk, "Third.")
	t.Run("messages are a plain array, oldest first", func(t *testing.T) {
		var bodies []any
		for _, message := range s.messages(t, s.key, order) {
			bodies = append(bodies, message["body"])
		}
		require.Equal(t, []any{"First.", "Second.", "Third."}, bodies)
	})
	t.Run("the operator's internal notes are not included", func(t *testing.T) {
		_, err := s.orderOperations(t).AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
			Actor: clerk, TenantId: s.tenant, OrderId: order, MessageId: uuid.NewString(), Body: "Between us.",
		})
		require.NoError(t, err)
		require.NotContains(t, s.get(t, s.key, path).body, "Between us.")
	})
	t.Run("the body is required and has at most 4000 characters", func(t *testing.T) {
		for body, fault := range map[string]string{
			`{}`: "body required", `{"body": "  "}`: "body required", `{"body": "` + fresh(4001) + `"}`: "body too_long",
		} {
			problem := requireProblem(t, s.post(t, s.key, path, body), http.StatusBadRequest, "invalid_request")
			require.Equal(t, []string{fault}, faults(t, problem))
		}
		require.Equal(t, http.StatusCreated, s.post(t, s.key, path, `{"body": "`+fresh(4000)+`"}`).status)
	})
	t.Run("attachments are not accepted", func(t *testing.T) {
		upload := call{method: http.MethodPost, path: path, key: s.key, body: "--x\r\n\r\nphoto\r\n--x--"}
		upload.header = map[string]string{"Content-Type": "multipart/form-data; boundary=x"}
		requireProblem(t, s.do(t, upload), http.StatusUnsupportedMediaType, "unsupported_media_type")
		require.Equal(t, http.StatusCreated, s.post(t, s.key, path, `{"body": "See attached.", "attachments": ["photo"]}`).status)
		messages := s.messages(t, s.key, order)
		require.NotContains(t, messages[len(messages)-1], "attachments")
	})
	t.Run("messages of others arrive as order.message_posted", func(t *testing.T) {
		events := s.recorded(t, s.key, order, "order.created", "order.message_posted", "order.message_posted")
		require.Contains(t, events[1].raw, "Second.")
		require.Contains(t, events[2].raw, "Third.")
	})
}
