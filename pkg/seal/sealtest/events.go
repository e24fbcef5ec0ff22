// Package sealtest makes writers and readers of sealed events, and checks rings of keys, for tests.
package sealtest

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Keys is a ring of the keys with these ids. A key depends only on the first letter of its id.
func Keys(ids ...string) seal.EventKeys {
	ring := make([]string, len(ids))
	for i, id := range ids {
		ring[i] = id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32)))
	}
	return seal.EventKeys{Ring: strings.Join(ring, ",")}
}

// Writer seals with the first key.
func Writer(t testing.TB, keys seal.EventKeys) *seal.EventWriter {
	t.Helper()
	ring, err := keys.Parse()
	require.NoError(t, err)
	return seal.NewEventWriter(ring)
}

// Reader opens with all keys.
func Reader(t testing.TB, keys seal.EventKeys) *seal.EventReader {
	t.Helper()
	r, err := seal.NewEventReader(keys, telemetry.Discard())
	require.NoError(t, err)
	return r
}

// Message is the data of an event with a message of this text, sealed by the writer, and as it was before.
func Message(t testing.TB, w *seal.EventWriter, at seal.EventPlace, body string) (sealed, plain []byte) {
	t.Helper()
	plain = []byte(`{"orderId":"1","message":{"author":{"name":"Ann"},"body":"` + body + `"}}`)
	sealed, err := w.Seal(at, plain, seal.MessageBody)
	require.NoError(t, err)
	return sealed, plain
}
