// Package sealtest makes writers and readers of sealed events, and checks rings of keys, for tests.
package sealtest

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
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

// Message returns the data of an event that has a message, with the message's body sealed by the writer and in plain text.
func Message(t testing.TB, w *seal.EventWriter, ref seal.EventRef, body string) (sealed, plain []byte) {
	t.Helper()
	plain = []byte(`{"orderId":"1","message":{"author":{"name":"Ann"},"body":"` + body + `"}}`)
	sealed, err := w.Seal(ref, plain, seal.MessageBody)
	require.NoError(t, err)
	return sealed, plain
}

// Ready returns why a service that starts with the ring would not be ready.
func Ready(t testing.TB, pool *pgxpool.Pool, ring seal.CheckedRing) error {
	t.Helper()
	check, err := seal.NewRingCheck(t.Context(), pool, telemetry.Discard(), ring)
	require.NoError(t, err)
	require.NoError(t, check.Run(t.Context()))
	return check.Ready(t.Context())
}

// Readiness runs a service until it is ready or says what is wrong with its seal keys, and returns that. It requires that only a
// service that is ready serves.
func Readiness(t testing.TB, open func(tel *telemetry.Telemetry) (*service.Service, error)) (reason string) {
	t.Helper()
	var log bytes.Buffer
	metrics := testenv.FreeAddr(t)
	tel, err := telemetry.New(t.Context(), "sealtest", telemetry.Config{MetricsAddr: metrics}, &log)
	require.NoError(t, err)
	s, err := open(tel)
	require.NoError(t, err)
	stop := testenv.Run(t, s.Run)
	require.Eventually(t, func() bool {
		res, err := http.Get("http://" + metrics + "/readyz") //nolint:noctx // Eventually bounds it.
		if err != nil {
			return false
		}
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		reason = string(body)
		return res.StatusCode == http.StatusOK || strings.Contains(reason, "sealed with key")
	}, 30*time.Second, 20*time.Millisecond)
	stop()
	require.Equal(t, reason == "", strings.Contains(log.String(), "serving gRPC"))
	return reason
}

// RowsRead returns how many rows the check of the ring reads from tables, which is a LIKE pattern of their names.
func RowsRead(t testing.TB, pool *pgxpool.Pool, ring seal.CheckedRing, tables string) (rows int) {
	t.Helper()
	// Only the session that reads the rows can flush its statistics, so the pool of the check has just one.
	one, err := postgres.Open(t.Context(), postgres.Config{URL: pool.Config().ConnString(), MaxConns: 1})
	require.NoError(t, err)
	defer one.Close()
	for _, sql := range []string{"VACUUM", "SELECT pg_stat_reset()"} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err = seal.NewRingCheck(t.Context(), one, telemetry.Discard(), ring)
	require.NoError(t, err)
	_, err = one.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	const read = `SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname LIKE $1`
	require.NoError(t, one.QueryRow(t.Context(), read, tables).Scan(&rows))
	require.Positive(t, rows)
	return rows
}
