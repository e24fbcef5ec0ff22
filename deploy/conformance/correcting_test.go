package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func testCorrecting(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order := f.place(t, with("courierComment", "Ring."))
	now := func() record { return f.read(t, "/orders/"+idOf(order)) }
	details := func() *ordersv1.DeliveryDetails { return f.readAsOperator(t, order).GetDetails() }
	requirement(t, "UPD-10", func(t *testing.T) {
		after := f.update(t, order, `"urgent": true, "courierComment": "Knock.", "recipient": {"name": "Zoe"}`)
		require.Equal(t, true, after["urgent"])
		require.Equal(t, []string{"Knock.", "Zoe"}, []string{details().GetCourierComment(), details().GetRecipient().GetName()})
	})
	requirement(t, "UPD-11", func(t *testing.T) {
		f.Post(t, f.key, "/orders/"+idOf(order)+":update-delivery", `{"urgent": false}`).Invalid(t, "expectedVersion required")
	})
	for id, ahead := range map[string]float64{"UPD-8": -1, "UPD-12": 1} {
		requirement(t, id, func(t *testing.T) {
			wrong := now()
			wrong["version"] = wrong["version"].(float64) + ahead
			f.sendUpdate(t, wrong, `"urgent": false`).Problem(t, "version_conflict")
		})
	}
	requirement(t, "UPD-14", func(t *testing.T) {
		f.update(t, now(), `"courierComment": "Wait."`)
		require.Equal(t, "Wait.", details().GetCourierComment())
	})
	requirement(t, "UPD-15", func(t *testing.T) { require.Equal(t, false, f.update(t, now(), `"urgent": false`)["urgent"]) })
	requirement(t, "UPD-1", func(t *testing.T) {
		before := details()
		f.update(t, now(), `"urgent": true`)
		require.Equal(t, before.String(), details().String())
		f.update(t, now(), `"courierComment": "Hello."`)
		require.Equal(t, true, now()["urgent"])
	})
	requirement(t, "UPD-16", func(t *testing.T) {
		f.update(t, now(), `"recipient": {"address": {"city": "Lund"}}`)
		recipient := details().GetRecipient()
		require.Equal(t, []string{"Zoe", harness.MarkedPhone, harness.MarkedStreet, "Lund", "621 57", "SE"}, []string{
			recipient.GetName(), recipient.GetPhone(), recipient.GetAddress().GetStreet(), recipient.GetAddress().GetCity(),
			recipient.GetAddress().GetPostalCode(), recipient.GetAddress().GetCountry(),
		})
	})
	requirement(t, "UPD-17", func(t *testing.T) {
		before := details().String()
		f.update(t, now(), `"urgent": null, "courierComment": null, "recipient": {"name": null, "email": null, "address": null}`)
		require.Equal(t, before, details().String())
		require.Equal(t, true, now()["urgent"])
	})
	requirement(t, "UPD-18", func(t *testing.T) {
		before := details().String()
		f.update(t, now(), `"recipient": {"email": "", "address": {"postalCode": ""}}`)
		require.Equal(t, before, details().String())
	})
	f.testInvalidCorrections(t, idOf(order))
	f.testNothing(t)
	requirement(t, "UPD-4", func(t *testing.T) {
		claimed := f.orderOf(t, f.claimed(t))
		after := f.update(t, claimed, `"recipient": {"address": {"street": "New Street 1"}}`)
		require.InDelta(t, claimed["version"].(float64)+1, after["version"], 0)
		require.Equal(t, "New Street 1", f.readAsOperator(t, claimed).GetDetails().GetRecipient().GetAddress().GetStreet())
	})
	requirement(t, "UPD-9", func(t *testing.T) {
		placed := f.place(t)
		after := f.update(t, placed, `"urgent": true`)
		require.InDelta(t, 1, after["version"], 0)
		require.Equal(t, after, f.read(t, "/orders/"+idOf(placed)))
		events := f.requireEvents(t, f.key, idOf(placed), "order.created", "order.updated")
		require.Equal(t, after, events[1].Record(t))
	})
	requirement(t, "UPD-7", func(t *testing.T) { f.requireRefusedIn(t, "SENT", ":update-delivery", "not_editable") })
	requirement(t, "CHO-35", func(t *testing.T) {
		invalid := `"urgent": "x", "recipient": {"name": "", "phone": "070", "address": {"country": "NO", "street": 1}}`
		f.sendUpdate(t, f.orderIn(t, "SENT"), invalid).Problem(t, "not_editable")
		stale := now()
		f.update(t, now(), `"courierComment": "Call."`)
		f.sendUpdate(t, stale, invalid).Problem(t, "version_conflict")
		f.sendUpdate(t, now(), invalid).Invalid(t, "urgent invalid", "recipient.name required", "recipient.phone invalid", "recipient.address.street invalid")
	})
	requirement(t, "CHO-36", func(t *testing.T) {
		f.update(t, now(), `"courierComment": ""`)
		require.Empty(t, details().GetCourierComment())
	})
	t.Run("of many corrections at once one succeeds", func(t *testing.T) {
		const callers = 20
		var succeeded, conflicts atomic.Int32
		var group errgroup.Group
		path, body := "/orders/"+idOf(f.place(t))+":update-delivery", `{"expectedVersion": 0, "urgent": true}`
		for range callers {
			group.Go(func() error {
				switch f.Send(t, f.postCall(path, body)).Status {
				case http.StatusOK:
					succeeded.Add(1)
				case http.StatusConflict:
					conflicts.Add(1)
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		require.Equal(t, []int32{1, callers - 1}, []int32{succeeded.Load(), conflicts.Load()})
	})
}

// testInvalidCorrections is about fields.
func (f *fixture) testInvalidCorrections(t *testing.T, orderID string) {
	now := func() record { return f.read(t, "/orders/"+orderID) }
	refuses := func(t *testing.T, members string, want ...string) {
		t.Helper()
		f.sendUpdate(t, now(), members).Invalid(t, want...)
	}
	requirement(t, "UPD-2", func(t *testing.T) {
		refuses(t, `"recipient": {"name": "", "phone": "", "address": {"street": "", "city": "", "country": ""}}`,
			"recipient.name required", "recipient.phone required", "recipient.address.street required", "recipient.address.city required",
			"recipient.address.country required")
	})
	requirement(t, "UPD-13", func(t *testing.T) {
		for path, limit := range map[string]int{
			"name": 100, "phone": 50, "email": 255, "address.street": 255, "address.city": 100, "address.postalCode": 20,
		} {
			refuses(t, nested("recipient."+path, freshText(limit+1)), "recipient."+path+" too_long")
		}
		refuses(t, nested("courierComment", freshText(501)), "courierComment too_long")
		f.update(t, now(), nested("recipient.name", freshText(100)))
	})
	requirement(t, "UPD-3", func(t *testing.T) {
		refuses(t, `"recipient": {"phone": "0701"}`, "recipient.phone invalid")
		refuses(t, `"recipient": {"email": "ann@"}`, "recipient.email invalid")
	})
	requirement(t, "UPD-6", func(t *testing.T) {
		f.sendUpdate(t, now(), `"recipient": {"address": {"country": "NO"}}`).Problem(t, "country_change_not_allowed")
	})
}

// testNothing is about corrections that change nothing.
func (f *fixture) testNothing(t *testing.T) {
	requirement(t, "UPD-5", func(t *testing.T) {
		order := f.place(t)
		require.Equal(t, order, f.update(t, order, `"urgent": false, "recipient": {"name": "`+harness.MarkedName+`"}`))
		require.Equal(t, order, f.update(t, order, `"recipient": {}`))
		f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")
		f.requireEvents(t, f.key, idOf(order), "order.created")
	})
	requirement(t, "UPD-20", func(t *testing.T) {
		order := f.place(t)
		f.update(t, order, `"urgent": true`)
		f.sendUpdate(t, order, `"urgent": true`).Problem(t, "version_conflict")
		sent := f.orderIn(t, "SENT")
		f.sendUpdate(t, sent, `"urgent": false`).Problem(t, "not_editable")
	})
}

// nested is an object with the value at the path, as JSON without its braces.
func nested(path, value string) string {
	names := strings.Split(path, ".")
	out := fmt.Sprintf("%q: %q", names[len(names)-1], value)
	for i := len(names) - 2; i >= 0; i-- {
		out = fmt.Sprintf("%q: {%s}", names[i], out)
	}
	return out
}
