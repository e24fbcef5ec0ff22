package conformance_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
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
		f.sendUpdate(t, now(), invalid).Invalid(t, "urgent invalid", "recipient.name required", "recipient.phone invalid",
			"recipient.address.street invalid")
	})
	requirement(t, "CHO-36", func(t *testing.T) {
		f.update(t, now(), `"courierComment": ""`)
		require.Empty(t, details().GetCourierComment())
	})
	t.Run("of many concurrent corrections one succeeds", func(t *testing.T) {
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

// testInvalidCorrections checks errors of fields.
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

// testNothing checks corrections that change nothing.
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

// change alters a record before it is sent.
type change = func(r record)

// with sets the member at the path, such as recipient.address.city or items.0.productId.
func with(path string, value any) change {
	return func(r record) {
		holder, name := holderOf(r, path)
		switch holder := holder.(type) {
		case record:
			holder[name] = value
		case []any:
			// An earlier change may have emptied the list.
			if i, _ := strconv.Atoi(name); i < len(holder) {
				holder[i] = value
			}
		}
	}
}

// without removes the members at the paths.
func without(paths ...string) change {
	return func(r record) {
		for _, path := range paths {
			holder, name := holderOf(r, path)
			if holder, ok := holder.(record); ok {
				delete(holder, name)
			}
		}
	}
}

func holderOf(r record, path string) (holder any, name string) {
	if i := strings.LastIndex(path, "."); i >= 0 {
		return at(r, path[:i]), path[i+1:]
	}
	return r, path
}

// all applies several changes as one.
func all(changes ...change) change {
	return func(r record) {
		for _, change := range changes {
			change(r)
		}
	}
}

// ofGift orders the gift, in its variations if it has any.
func ofGift(productID string, variations ...record) change {
	item := record{"productId": productID}
	if len(variations) > 0 {
		item["variations"] = variations[0]
	}
	return func(r record) { r["items"] = []any{item} }
}

// ofCampaign orders from the campaign, whose brand it takes.
func ofCampaign(campaignID string) change {
	return all(without("brandId"), with("campaignId", campaignID))
}

// fromCampaign lets the recipients of a batch choose from the campaign.
func fromCampaign(campaignID string) change {
	return all(ofCampaign(campaignID), without("productIds"))
}

// recipient sets a member of the batch's one recipient.
func recipient(member string, value any) change { return with("recipients.0."+member, value) }

// custom requests something that is not in the catalog, within the budget.
func custom(amount any, currency string) change {
	return with("items", []any{
		record{"customProductName": "A signed jersey", "budget": record{"amount": amount, "currency": currency}},
	})
}

func small() record { return record{"Size": "S"} }

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
