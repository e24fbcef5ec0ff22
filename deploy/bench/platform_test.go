package bench_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// start runs the platform with databases of its own and gives a connection to that of a service.
func start(b *testing.B, service string) (*pgx.Conn, map[string]string) {
	b.Helper()
	s := stack.Start(b)
	return connectTo(b, stack.URL(b, s.Name(service))), s.Env
}

// databaseURL leads to a database of the server that the benchmarks use.
func databaseURL(b *testing.B, name string) string {
	b.Helper()
	return stack.URL(b, name)
}

// makeDatabase makes a migrated database beside the platform's and gives its URL.
func makeDatabase(b *testing.B, name string, migrate func(url string) error) string {
	b.Helper()
	_, err := connectTo(b, stack.Server(b)).Exec(b.Context(), "CREATE DATABASE "+name)
	require.NoError(b, err)
	dropAtEnd(b, name)
	at := stack.URL(b, name)
	require.NoError(b, migrate(at))
	return at
}

func connectTo(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) })
	return conn
}

// dropAtEnd drops a database when the benchmark ends.
func dropAtEnd(b *testing.B, name string) {
	b.Helper()
	b.Cleanup(func() {
		ctx := context.WithoutCancel(b.Context())
		conn, err := pgx.Connect(ctx, stack.Server(b))
		require.NoError(b, err)
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		require.NoError(b, err)
	})
}
