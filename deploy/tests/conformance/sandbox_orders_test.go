package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// inSandbox reports whether the platform has the operations below /sandbox.
func (f *fixture) inSandbox(t *testing.T) bool {
	t.Helper()
	return f.read(t, "/me")["environment"] == "sandbox"
}

// act takes a step with an order in the sandbox.
func (f *fixture) act(t *testing.T, id, action, body string) answer {
	t.Helper()
	a := f.Post(t, f.key, "/sandbox/orders/"+id+":"+action, body)
	require.Equal(t, action, a.Header.Get("Sandbox"))
	return a
}

func testSandboxOrders(t *testing.T, p *platform) {
	f := newFixture(t, p, approving)
	if !f.inSandbox(t) {
		return
	}
	order := f.place(t)
	id := idOf(order)
	const created, statusChanged, updated = "order.created", "order.status_changed", "order.updated"
	requirement(t, "SBO-1", func(t *testing.T) {
		require.Equal(t, "PROCESSING", f.act(t, id, "approve", `{}`).OK(t)["status"])
		f.requireStatusChange(t, id, "REQUESTED", created, statusChanged)
	})
	requirement(t, "SBO-2", func(t *testing.T) {
		sent := f.act(t, id, "dispatch", `{"carrier": "Post"}`).OK(t)
		require.Equal(t, "SENT", sent["status"])
		shipment := sent["shipments"].([]any)[0].(map[string]any)
		require.Equal(t, "Post", shipment["carrier"])
		require.NotEmpty(t, shipment["trackingReference"])
		require.Contains(t, shipment["trackingUrl"], "https://")
	})
	requirement(t, "SBO-3", func(t *testing.T) {
		before := f.read(t, "/orders/"+id)["shipments"]
		corrected := f.act(t, id, "correct-tracking",
			`{"trackingReference": "T-2", "trackingUrl": "https://carrier.example/T-2"}`).OK(t)
		require.NotEqual(t, before, corrected["shipments"])
		f.requireEvents(t, f.key, id, created, statusChanged, statusChanged, updated)
	})
	requirement(t, "SBO-4", func(t *testing.T) {
		require.Equal(t, "COMPLETED", f.act(t, id, "deliver", `{}`).OK(t)["status"])
	})
	requirement(t, "SBO-5", func(t *testing.T) {
		refused := f.act(t, id, "dispatch", `{}`).Problem(t, problem.NotEditable)
		require.Equal(t, "COMPLETED", refused["currentStatus"])
	})
	requirement(t, "SBO-6", func(t *testing.T) {
		require.Equal(t, "CANCELLED", f.act(t, id, "correct-status", `{"status": "CANCELLED"}`).OK(t)["status"])
		require.Equal(t, "PROCESSING", f.act(t, id, "correct-status", `{"status": "PROCESSING"}`).OK(t)["status"])
	})
	requirement(t, "SBO-7", func(t *testing.T) {
		posted := f.act(t, id, "post-message", `{"body": "On its way."}`)
		require.Equal(t, http.StatusCreated, posted.Status)
		messages := f.Array(t, f.key, "/orders/"+id+"/messages")
		require.Equal(t, posted.Object(t)["id"], messages[0]["id"])
		require.Equal(t, "BACKOFFICE_ACCOUNT", messages[0]["author"].(map[string]any)["kind"])
	})
	requirement(t, "SBO-8", func(t *testing.T) {
		hidden := f.Post(t, f.newKey(t, ofBrand(f.other)), "/sandbox/orders/"+id+":approve", `{}`)
		hidden.Problem(t, problem.NotFound)
	})
	f.testAuto(t)
}

// testAuto is for a tenant whose orders wait for approval.
func (f *fixture) testAuto(t *testing.T) {
	auto := func(t *testing.T, directive string) answer {
		t.Helper()
		return f.Post(t, f.key, "/orders", f.body(t, with("externalActionRef", directive)))
	}
	requirement(t, "AUTO-1", func(t *testing.T) {
		placed := auto(t, "sandbox:auto=1s,stop=SENT")
		require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
		require.Equal(t, "auto", placed.Header.Get("Sandbox"))
		id := idOf(placed.Object(t))
		require.Eventually(t, func() bool { return f.read(t, "/orders/"+id)["status"] == "SENT" }, 30*time.Second, 200*time.Millisecond)
		f.requireEvents(t, f.key, id, "order.created", "order.status_changed", "order.status_changed")
	})
	requirement(t, "AUTO-2", func(t *testing.T) { auto(t, "sandbox:auto=abc").Invalid(t, "externalActionRef invalid") })
}
