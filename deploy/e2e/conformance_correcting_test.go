package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func (p *platform) promisesOfCorrecting(t *testing.T) {
	s := p.newShop(t, false)
	order := s.place(t, with("courierComment", "Ring."))
	now := func() map[string]any { return s.read(t, "/orders/"+idOf(order)) }
	details := func() *ordersv1.DeliveryDetails { return s.file(t, order).GetDetails() }
	t.Run("recipient, courier comment and urgency are changed while PROCESSING", func(t *testing.T) {
		after := s.update(t, order, `"urgent": true, "courierComment": "Knock.", "recipient": {"name": "Zoe"}`)
		require.Equal(t, true, after["urgent"])
		require.Equal(t, []string{"Knock.", "Zoe"}, []string{details().GetCourierComment(), details().GetRecipient().GetName()})
	})
	t.Run("expectedVersion is required", func(t *testing.T) {
		problem := requireProblem(t, s.post(t, s.key, "/orders/"+idOf(order)+":update-delivery", `{"urgent": false}`),
			http.StatusBadRequest, "invalid_request")
		require.Equal(t, []string{"expectedVersion required"}, faults(t, problem))
	})
	for promise, ahead := range map[string]float64{"a stale version is a conflict": -1, "expectedVersion must be the current version": 1} {
		t.Run(promise, func(t *testing.T) {
			wrong := now()
			wrong["version"] = wrong["version"].(float64) + ahead
			requireProblem(t, s.sendUpdate(t, wrong, `"urgent": false`), http.StatusConflict, "version_conflict")
		})
	}
	t.Run("the courier comment alone can be changed", func(t *testing.T) {
		s.update(t, now(), `"courierComment": "Wait."`)
		require.Equal(t, "Wait.", details().GetCourierComment())
	})
	t.Run("urgency alone can be changed", func(t *testing.T) { require.Equal(t, false, s.update(t, now(), `"urgent": false`)["urgent"]) })
	t.Run("what is omitted keeps its value", func(t *testing.T) {
		before := details()
		s.update(t, now(), `"urgent": true`)
		require.Equal(t, before.String(), details().String())
		s.update(t, now(), `"courierComment": "Hello."`)
		require.Equal(t, true, now()["urgent"])
	})
	t.Run("recipient and address are merged field by field", func(t *testing.T) {
		s.update(t, now(), `"recipient": {"address": {"city": "Lund"}}`)
		recipient := details().GetRecipient()
		require.Equal(t, []string{"Zoe", markedPhone, markedStreet, "Lund", "621 57", "SE"}, []string{
			recipient.GetName(), recipient.GetPhone(), recipient.GetAddress().GetStreet(), recipient.GetAddress().GetCity(),
			recipient.GetAddress().GetPostalCode(), recipient.GetAddress().GetCountry(),
		})
	})
	t.Run("null keeps the stored value", func(t *testing.T) {
		before := details().String()
		s.update(t, now(), `"urgent": null, "courierComment": null, "recipient": {"name": null, "email": null, "address": null}`)
		require.Equal(t, before, details().String())
		require.Equal(t, true, now()["urgent"])
	})
	t.Run("an empty e-mail or postal code keeps the stored value", func(t *testing.T) {
		before := details().String()
		s.update(t, now(), `"recipient": {"email": "", "address": {"postalCode": ""}}`)
		require.Equal(t, before, details().String())
	})
	s.promisesOfFaultyCorrections(t, idOf(order))
	s.promisesOfNothing(t)
	t.Run("the order of a claim is changed one field at a time", func(t *testing.T) {
		claimed := s.read(t, "/orders/"+s.claimed(t)["orderId"].(string))
		after := s.update(t, claimed, `"recipient": {"address": {"street": "New Street 1"}}`)
		require.InDelta(t, claimed["version"].(float64)+1, after["version"], 0)
		require.Equal(t, "New Street 1", s.file(t, claimed).GetDetails().GetRecipient().GetAddress().GetStreet())
	})
	t.Run("a correction answers the order with a higher version and records order.updated", func(t *testing.T) {
		placed := s.place(t)
		after := s.update(t, placed, `"urgent": true`)
		require.InDelta(t, 1, after["version"], 0)
		require.Equal(t, after, s.read(t, "/orders/"+idOf(placed)))
		events := s.recorded(t, s.key, idOf(placed), "order.created", "order.updated")
		require.JSONEq(t, s.get(t, s.key, "/orders/"+idOf(placed)).body, string(events[1].Data))
	})
	t.Run("an order that is not PROCESSING is not editable and tells its status", func(t *testing.T) {
		s.refusesIn(t, "SENT", ":update-delivery", "not_editable")
	})
}

// promisesOfFaultyCorrections is of those that are refused for a field.
func (s *shop) promisesOfFaultyCorrections(t *testing.T, orderID string) {
	now := func() map[string]any { return s.read(t, "/orders/"+orderID) }
	refuses := func(t *testing.T, members string, want ...string) {
		t.Helper()
		problem := requireProblem(t, s.sendUpdate(t, now(), members), http.StatusBadRequest, "invalid_request")
		require.ElementsMatch(t, want, faults(t, problem))
	}
	t.Run("an empty name, phone, street, city or country is required", func(t *testing.T) {
		refuses(t, `"recipient": {"name": "", "phone": "", "address": {"street": "", "city": "", "country": ""}}`,
			"recipient.name required", "recipient.phone required", "recipient.address.street required", "recipient.address.city required",
			"recipient.address.country required")
	})
	t.Run("the fields of a correction have the lengths of an order's", func(t *testing.T) {
		for path, limit := range map[string]int{
			"name": 100, "phone": 50, "email": 255, "address.street": 255, "address.city": 100, "address.postalCode": 20,
		} {
			refuses(t, nested("recipient."+path, fresh(limit+1)), "recipient."+path+" too_long")
		}
		refuses(t, nested("courierComment", fresh(501)), "courierComment too_long")
		s.update(t, now(), nested("recipient.name", fresh(100)))
	})
	t.Run("the merged recipient is validated like a new order's", func(t *testing.T) {
		refuses(t, `"recipient": {"phone": "0701"}`, "recipient.phone invalid")
		refuses(t, `"recipient": {"email": "ann@"}`, "recipient.email invalid")
	})
	t.Run("another country is not allowed", func(t *testing.T) {
		requireProblem(t, s.sendUpdate(t, now(), `"recipient": {"address": {"country": "NO"}}`),
			http.StatusUnprocessableEntity, "country_change_not_allowed")
	})
}

// promisesOfNothing is of corrections that change nothing.
func (s *shop) promisesOfNothing(t *testing.T) {
	t.Run("a correction that changes nothing makes no version and no event", func(t *testing.T) {
		order := s.place(t)
		require.Equal(t, order, s.update(t, order, `"urgent": false, "recipient": {"name": "`+markedName+`"}`))
		require.Equal(t, order, s.update(t, order, `"recipient": {}`))
		s.recorded(t, s.key, idOf(s.place(t)), "order.created")
		s.recorded(t, s.key, idOf(order), "order.created")
	})
	t.Run("one that changes nothing is still refused when stale or not PROCESSING", func(t *testing.T) {
		order := s.place(t)
		s.update(t, order, `"urgent": true`)
		requireProblem(t, s.sendUpdate(t, order, `"urgent": true`), http.StatusConflict, "version_conflict")
		sent := s.standing(t, "SENT")
		requireProblem(t, s.sendUpdate(t, sent, `"urgent": false`), http.StatusConflict, "not_editable")
	})
}

// nested is the member at the path of an object, as JSON without its braces.
func nested(path, value string) string {
	names := strings.Split(path, ".")
	out := fmt.Sprintf("%q: %q", names[len(names)-1], value)
	for i := len(names) - 2; i >= 0; i-- {
		out = fmt.Sprintf("%q: {%s}", names[i], out)
	}
	return out
}
