// Package eventsealtest makes writers and readers of sealed events for tests.
package eventsealtest

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Keys is a ring of the keys with these ids. A key depends only on the first letter of its id.
func Keys(ids ...string) eventseal.Keys {
	ring := make([]string, len(ids))
	for i, id := range ids {
		ring[i] = id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32)))
	}
	return eventseal.Keys{Ring: strings.Join(ring, ",")}
}

// Writer seals with the first key.
func Writer(t testing.TB, keys eventseal.Keys) *eventseal.Writer {
	t.Helper()
	ring, err := keys.Parse()
	require.NoError(t, err)
	return eventseal.NewWriter(ring)
}

// Reader opens with all keys.
func Reader(t testing.TB, keys eventseal.Keys) *eventseal.Reader {
	t.Helper()
	r, err := eventseal.NewReader(keys, telemetry.Discard())
	require.NoError(t, err)
	return r
}

// Message is the data of an event with a message of this text, sealed by the writer, and as it was before.
func Message(t testing.TB, w *eventseal.Writer, at eventseal.Place, body string) (sealed, plain []byte) {
	t.Helper()
	plain = []byte(`{"orderId":"1","message":{"author":{"name":"Ann"},"body":"` + body + `"}}`)
	sealed, err := w.Seal(at, plain, eventseal.MessageBody)
	require.NoError(t, err)
	return sealed, plain
}
