package sender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
)

// message stores an event with a sealed message for the key, and returns its id and the body that its receiver gets.
func (f *fixture) message(w *seal.EventWriter, key int32) (id string, body []byte) {
	f.t.Helper()
	e := newEvent(key)
	e.Type = "order.message_posted"
	e.Body, body = sealtest.Message(f.t, w, seal.EventRef{TenantID: tenant, EventID: e.ID}, "Happy birthday")
	return f.fanOut(e), body
}

func TestASealedEventIsOpenedWhenItIsSent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7)
	keys := sealtest.Keys("a")
	f.reader = sealtest.Reader(t, keys)
	f.start()
	id, body := f.message(sealtest.Writer(t, keys), 7)
	f.waitFor(id, 7, inState("DELIVERED"))

	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 1)
	require.True(t, arrivals[0].Verified, "the signature is that of the opened body")
	require.Equal(t, string(body), string(arrivals[0].Body))
	var stored string
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT convert_from(body, 'UTF8') FROM events").Scan(&stored))
	require.NotContains(t, stored, "Happy birthday")
}

func TestAnEventThatCannotBeOpenedWaitsForItsKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7)
	f.reader = sealtest.Reader(t, sealtest.Keys("b"))
	without := f.start()
	id, body := f.message(sealtest.Writer(t, sealtest.Keys("a")), 7)
	other := f.event(7)
	f.waitFor(other, 7, inState("DELIVERED"))
	waiting := f.waitFor(id, 7, func(r row) bool { return r.Next.After(f.clock.now()) && !r.Leased })
	require.Equal(t, row{State: "PENDING", Next: waiting.Next}, waiting, "it has no attempt")
	require.Positive(t, f.tel.Values(t, "gifting.webhook.deliveries")["outcome=unreadable"])
	require.Len(t, receiver.Arrivals(), 1)
	without.stop()
	require.NoError(t, without.wait())

	// Much later than the last attempt of a receiver that fails.
	f.clock.advance(10 * 24 * time.Hour)
	f.reader = sealtest.Reader(t, sealtest.Keys("b", "a"))
	f.start()
	f.waitFor(id, 7, inState("DELIVERED"))
	require.Equal(t, string(body), string(receiver.Arrivals()[1].Body))
}
