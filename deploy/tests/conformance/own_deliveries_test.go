package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ownReceiver is a key whose webhook answers in this process with a status that the test sets.
type ownReceiver struct {
	key    string
	keyID  int32
	status atomic.Int32
	// arrived has the ids of the events that came.
	arrived chan string
}

func (f *fixture) newOwnReceiver(t *testing.T, status int) *ownReceiver {
	t.Helper()
	requireNearby(t, f.platform)
	r := &ownReceiver{arrived: make(chan string, 1000)}
	r.status.Store(int32(status))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(int(r.status.Load()))
		_, _ = w.Write([]byte("seen \xff"))
		r.arrived <- req.Header.Get("Service-Event-Id")
	}))
	t.Cleanup(server.Close)
	made := f.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &server.URL })
	r.key, r.keyID = made.GetApiKey(), made.GetKey().GetId()
	return r
}

// ownDeliveries lists the deliveries of a key, all pages of them.
func (f *fixture) ownDeliveries(t *testing.T, key, query string) []record {
	t.Helper()
	return f.All(t, key, "/webhooks/deliveries?limit=1"+query)
}

// awaitOwn waits until the key has one delivery in a state, which was attempted.
func (f *fixture) awaitOwn(t *testing.T, key, state string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found := f.ownDeliveries(t, key, "&state="+state)
		return len(found) == 1 && len(found[0]["attempts"].([]any)) > 0
	}, harness.Slow, 50*time.Millisecond)
}

func testOwnDeliveries(t *testing.T, p *platform) {
	f := newFixture(t, p)
	receiver := f.newOwnReceiver(t, http.StatusServiceUnavailable)
	first := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	f.awaitOwn(t, receiver.key, "PENDING")
	receiver.status.Store(http.StatusOK)
	second := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	f.awaitOwn(t, receiver.key, "DELIVERED")
	list := f.ownDeliveries(t, receiver.key, "")
	require.Len(t, list, 2)
	sent, waiting := list[0], list[1]

	requirement(t, "WHD-1", func(t *testing.T) {
		require.Equal(t, second.ID, sent["eventId"])
		require.Equal(t, first.ID, waiting["eventId"])
		items, next := f.Page(t, receiver.key, "/webhooks/deliveries")
		require.Equal(t, list, items)
		require.Empty(t, next)
	})
	requirement(t, "WHD-2", func(t *testing.T) {
		require.Equal(t, "order.created", waiting["type"])
		require.Equal(t, first.Object(t)["occurredAt"], waiting["occurredAt"])
		require.Equal(t, []any{"PENDING", "DELIVERED"}, []any{waiting["state"], sent["state"]})
		next, err := time.Parse(time.RFC3339, waiting["nextAttemptAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(time.Minute), next, time.Minute)
		require.Nil(t, sent["nextAttemptAt"])
		require.NoError(t, uuid.Validate(sent["id"].(string)))
		require.NotEqual(t, sent["id"], sent["eventId"])
	})
	requirement(t, "WHD-3", func(t *testing.T) {
		require.Len(t, waiting["attempts"], 1)
		failed, ended := waiting["attempts"].([]any)[0].(record), sent["attempts"].([]any)[0].(record)
		require.InDelta(t, http.StatusServiceUnavailable, failed["status"], 0)
		require.Contains(t, failed["error"], "503")
		require.Equal(t, "seen \uFFFD", failed["responseBody"])
		require.InDelta(t, http.StatusOK, ended["status"], 0)
		require.Nil(t, ended["error"])
		at, err := time.Parse(time.RFC3339, failed["at"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
		require.GreaterOrEqual(t, failed["durationMs"], 0.0)
	})
	f.testOwnFilters(t, receiver.key, first.ID, second.ID)
	f.testResends(t, receiver, sent)
	f.testReplays(t, receiver, sent)
	f.testResendsToNobody(t)
	f.testHealth(t)
	requirement(t, "WHD-6", func(t *testing.T) {
		for _, key := range []string{f.key, f.newKey(t), newFixture(t, p).key} {
			require.Empty(t, f.ownDeliveries(t, key, ""))
		}
	})
}

func (f *fixture) testOwnFilters(t *testing.T, key, first, second string) {
	requirement(t, "WHD-4", func(t *testing.T) {
		for query, want := range map[string][]string{
			"&state=DELIVERED": {second}, "&state=EXHAUSTED": nil, "&state=DROPPED": nil, "&state=PENDING&type=order.created": {first},
			"&type=personal_link.created": nil, "&eventId=" + strings.ToUpper(first): {first}, "&eventId=" + uuid.NewString(): nil,
			"&since=2020-01-01T00:00:00Z": {second, first}, "&since=2999-01-01T00:00:00Z": nil,
		} {
			var got []string
			for _, d := range f.ownDeliveries(t, key, query) {
				got = append(got, d["eventId"].(string))
			}
			require.Equal(t, want, got, query)
		}
	})
	requirement(t, "WHD-5", func(t *testing.T) {
		for query, want := range map[string][]string{
			"state=FAILED&type=ping&eventId=x&since=today&limit=0": {
				"state invalid", "type invalid", "eventId invalid", "since invalid", "limit invalid",
			},
			"after=x": {"after invalid"},
		} {
			f.Get(t, key, "/webhooks/deliveries?"+query).Invalid(t, want...)
		}
		_, next := f.Page(t, key, "/webhooks/deliveries?limit=1")
		f.Get(t, key, "/webhooks/deliveries?limit=1&type=order.created&after="+next).Invalid(t, "after invalid")
		f.Get(t, f.newKey(t), "/webhooks/deliveries?limit=1&after="+next).Invalid(t, "after invalid")
	})
}

func (f *fixture) postOwn(t *testing.T, key, path, body, idempotencyKey string) answer {
	t.Helper()
	return f.Do(t, call{
		Method: http.MethodPost, Path: path, Key: key, Body: body, Header: map[string]string{"Idempotency-Key": idempotencyKey},
	})
}

// testResends sends a delivery again that has arrived.
func (f *fixture) testResends(t *testing.T, r *ownReceiver, sent record) {
	path, eventID := "/webhooks/deliveries/"+sent["id"].(string)+":resend", sent["eventId"].(string)
	requirement(t, "WHR-1", func(t *testing.T) {
		key := uuid.NewString()
		a := f.postOwn(t, r.key, path, "{}", key)
		require.Equal(t, http.StatusAccepted, a.Status, a.Body)
		require.Equal(t, []any{sent["id"], "PENDING"}, []any{a.OK(t)["id"], a.OK(t)["state"]})
		r.await(t, eventID, 2)
		again := f.postOwn(t, r.key, path, "{}", key)
		require.Equal(t, a.Body, again.Body)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	})
	requirement(t, "WHR-2", func(t *testing.T) {
		f := newFixture(t, f.platform)
		r := f.newOwnReceiver(t, http.StatusServiceUnavailable)
		event := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
		f.awaitOwn(t, r.key, "PENDING")
		r.status.Store(http.StatusOK)
		waiting := f.ownDeliveries(t, r.key, "")[0]
		require.Equal(t, "PENDING", f.Post(t, r.key, "/webhooks/deliveries/"+waiting["id"].(string)+":resend", "").OK(t)["state"])
		r.await(t, event.ID, 2)
		f.awaitOwn(t, r.key, "DELIVERED")
		require.Len(t, f.ownDeliveries(t, r.key, "")[0]["attempts"], 2)
	})
	requirement(t, "WHR-3", func(t *testing.T) {
		f.Post(t, f.key, path, "{}").Problem(t, "not_found")
		for _, id := range []string{eventID, uuid.NewString(), "x"} {
			f.Post(t, r.key, "/webhooks/deliveries/"+id+":resend", "{}").Problem(t, "not_found")
		}
		f.postOwn(t, r.key, path, "{}", "").Problem(t, "idempotency_key_required")
	})
}

// await waits until an event has arrived so many times.
func (r *ownReceiver) await(t *testing.T, eventID string, times int) {
	t.Helper()
	for times > 0 {
		select {
		case id := <-r.arrived:
			if id == eventID {
				times--
			}
		case <-time.After(harness.Slow):
			require.Fail(t, "the event has not arrived")
		}
	}
}

// span is the body of a replay.
func span(from, to time.Duration, more string) string {
	now := time.Now().UTC()
	return `{"from": "` + now.Add(from).Format(time.RFC3339) + `", "to": "` + now.Add(to).Format(time.RFC3339) + `"` + more + `}`
}

func (f *fixture) testReplays(t *testing.T, r *ownReceiver, sent record) {
	requirement(t, "WHR-4", func(t *testing.T) {
		f.awaitOwn(t, r.key, "DELIVERED")
		key, body := uuid.NewString(), span(-time.Hour, time.Hour, `, "types": ["order.created"]`)
		a := f.postOwn(t, r.key, "/webhooks:replay", body, key)
		require.Equal(t, http.StatusAccepted, a.Status, a.Body)
		require.Equal(t, record{"deliveries": 1.0}, a.OK(t), "the one that is finished")
		r.await(t, sent["eventId"].(string), 1)
		require.Equal(t, a.Body, f.postOwn(t, r.key, "/webhooks:replay", body, key).Body)
		require.Equal(t, record{"deliveries": 0.0}, f.Post(t, r.key, "/webhooks:replay",
			span(-time.Hour, time.Hour, `, "types": ["order.updated"]`)).OK(t))
		require.Equal(t, record{"deliveries": 0.0}, f.Post(t, f.newKey(t), "/webhooks:replay", span(-time.Hour, time.Hour, "")).OK(t),
			"of another key")
	})
	requirement(t, "WHR-5", func(t *testing.T) {
		f.Post(t, r.key, "/webhooks:replay", "{}").Invalid(t, "from required", "to required")
		f.Post(t, r.key, "/webhooks:replay", span(0, 0, `, "types": ["ping"]`)).Invalid(t, "to invalid", "types[0] invalid")
	})
	requirement(t, "WHR-6", func(t *testing.T) {
		f.Post(t, r.key, "/webhooks:replay", span(-31*24*time.Hour, 0, "")).Problem(t, "replay_too_large")
	})
}

// testResendsToNobody sends a delivery again after its receiver is gone.
func (f *fixture) testResendsToNobody(t *testing.T) {
	r := f.newOwnReceiver(t, http.StatusOK)
	f.place(t)
	f.awaitOwn(t, r.key, "DELIVERED")
	sent := f.ownDeliveries(t, r.key, "")[0]
	r.await(t, sent["eventId"].(string), 1)
	path, replayKey, replay := "/webhooks/deliveries/"+sent["id"].(string)+":resend", uuid.NewString(), span(-time.Hour, time.Hour, "")
	requirement(t, "WHR-9", func(t *testing.T) {
		_, err := f.Tenants(t).SetWebhookUrl(t.Context(),
			&tenantsv1.SetWebhookUrlRequest{Actor: operator, TenantId: f.tenant, KeyId: r.keyID})
		require.NoError(t, err)
		require.Equal(t, "PENDING", f.Post(t, r.key, path, "{}").OK(t)["state"])
		f.awaitOwn(t, r.key, "DROPPED")
		require.Equal(t, record{"deliveries": 1.0}, f.postOwn(t, r.key, "/webhooks:replay", replay, replayKey).OK(t))
		f.awaitOwn(t, r.key, "DROPPED")
		require.Empty(t, r.arrived)
	})
	requirement(t, "WHR-10", func(t *testing.T) {
		_, err := f.Tenants(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{Actor: operator, TenantId: f.tenant, KeyId: r.keyID})
		require.NoError(t, err)
		f.postOwn(t, r.key, "/webhooks:replay", replay, replayKey).Problem(t, "invalid_api_key")
		f.Post(t, r.key, path, "{}").Problem(t, "invalid_api_key")
	})
}

func (f *fixture) testHealth(t *testing.T) {
	health := func(t *testing.T, key string) record {
		t.Helper()
		return f.Get(t, key, "/webhooks/health").OK(t)
	}
	requirement(t, "WHH-1", func(t *testing.T) { require.Equal(t, "NONE", health(t, f.key)["state"]) })
	r := f.newOwnReceiver(t, http.StatusOK)
	requirement(t, "WHH-2", func(t *testing.T) {
		require.Equal(t, record{
			"state": "HEALTHY", "failingSince": nil, "lastSuccessAt": nil, "lastError": nil, "pending": 0.0, "oldestPendingAt": nil,
		}, health(t, r.key))
		f.place(t)
		require.Eventually(t, func() bool { return health(t, r.key)["lastSuccessAt"] != nil }, harness.Slow, 50*time.Millisecond)
		require.Equal(t, "HEALTHY", health(t, r.key)["state"])
	})
	requirement(t, "WHH-3", func(t *testing.T) {
		r.status.Store(http.StatusServiceUnavailable)
		f.place(t)
		require.Eventually(t, func() bool { return health(t, r.key)["state"] == "FAILING" }, harness.Slow, 50*time.Millisecond)
		got := health(t, r.key)
		require.Contains(t, got["lastError"], "503")
		require.InDelta(t, 1, got["pending"], 0)
		for _, name := range []string{"failingSince", "lastSuccessAt", "oldestPendingAt"} {
			at, err := time.Parse(time.RFC3339, got[name].(string))
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), at, time.Minute, name)
		}
	})
}
