//go:build faults

package faults_test

import (
	"context"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/programs"
)

// restore brings a server back to an earlier state.
type restore func(ctx context.Context, t *testing.T)

// setback is a way in which a database goes back to an earlier state.
type setback struct {
	name string
	take func(d *drill, ctx context.Context, t *testing.T, database string) restore
}

// setbacks are all that a platform meets. They differ in what the server says of itself afterwards.
var setbacks = []setback{
	{dumpRestored, (*drill).dump},
	{replicaPromoted, copyServer(true)},
	{volumeSetBack, copyServer(false)},
}

// backUp takes a backup of databases, in a way that the seed decides, for restoreAll. The tables grow under load: a test fails if
// one has not grown when it is restored.
func backUp(tables map[string]string) step {
	return func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		how := setbacks[d.turn%uint64(len(setbacks))]
		if at := slices.IndexFunc(setbacks, func(s setback) bool { return s.name == d.variant }); at >= 0 {
			how = setbacks[at]
		}
		d.printf("variant: %s", how.name)
		for _, database := range slices.Sorted(maps.Keys(tables)) {
			table := tables[database]
			before := d.count(ctx, t, database, table)
			restore := how.take(d, ctx, t, database)
			d.restores = append(d.restores, func(ctx context.Context, t *testing.T) {
				t.Helper()
				now := d.count(ctx, t, database, table)
				d.printf("%s goes back from %d to about %d rows of %s", database, now, before, table)
				require.Greater(t, now, before)
				restore(ctx, t)
			})
		}
	}
}

func (d *drill) count(ctx context.Context, t *testing.T, database, table string) int {
	t.Helper()
	return queryOne[int](ctx, t, d.urlOf(t, database), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize())
}

// query returns the rows of a statement, each of which has one column.
func query[T any](ctx context.Context, t *testing.T, address, statement string) (all []T) {
	t.Helper()
	withConn(ctx, t, address, func(conn *pgx.Conn) {
		rows, err := conn.Query(ctx, statement)
		require.NoError(t, err)
		all, err = pgx.CollectRows(rows, pgx.RowTo[T])
		require.NoError(t, err, statement)
	})
	return all
}

func queryOne[T any](ctx context.Context, t *testing.T, address, statement string) T {
	t.Helper()
	all := query[T](ctx, t, address, statement)
	require.Len(t, all, 1, statement)
	return all[0]
}

// withConn connects for one use, because a restore ends all connections.
func withConn(ctx context.Context, t *testing.T, address string, do func(conn *pgx.Conn)) {
	t.Helper()
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	do(conn)
}

func (d *drill) exec(ctx context.Context, t *testing.T, address string, statements ...string) {
	t.Helper()
	withConn(ctx, t, address, func(conn *pgx.Conn) {
		for _, statement := range statements {
			_, err := conn.Exec(ctx, statement)
			require.NoError(t, err, statement)
		}
	})
}

// postgresProgram runs a program that came with the server.
func (d *drill) postgresProgram(ctx context.Context, t *testing.T, database, program string, args ...string) {
	t.Helper()
	bin := queryOne[string](ctx, t, d.urlOf(t, database), "SELECT setting FROM pg_config WHERE name = 'BINDIR'")
	output, err := exec.CommandContext(ctx, filepath.Join(bin, program), args...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// dump takes a logical backup, and restores it beside the database before it takes its place: nothing connects to one that is only
// half restored.
func (d *drill) dump(ctx context.Context, t *testing.T, database string) restore {
	t.Helper()
	file := filepath.Join(t.TempDir(), database+".dump")
	address := d.urlOf(t, database)
	d.postgresProgram(ctx, t, database, "pg_dump", "--format=custom", "--file="+file, "--dbname="+address)
	return func(ctx context.Context, t *testing.T) {
		t.Helper()
		server, err := url.Parse(address)
		require.NoError(t, err)
		name := server.Path[1:]
		beside := *server
		beside.Path += "_restored"
		server.Path = "/postgres"
		old, restored := pgx.Identifier{name}.Sanitize(), pgx.Identifier{name + "_restored"}.Sanitize()
		swap := []string{"DROP DATABASE " + old + " WITH (FORCE)", "ALTER DATABASE " + restored + " RENAME TO " + old}
		at := slices.IndexFunc(programs.All(), func(p programs.Program) bool { return p.Database == database })
		if programs.All()[at].Outbox {
			login := pgx.Identifier{local.RelayRole(d.config.Name)}.Sanitize()
			swap = append([]string{"GRANT CONNECT ON DATABASE " + restored + " TO " + login}, swap...)
		}
		d.exec(ctx, t, server.String(), "CREATE DATABASE "+restored, "REVOKE CONNECT, TEMPORARY ON DATABASE "+restored+" FROM PUBLIC")
		d.postgresProgram(ctx, t, database, "pg_restore", "--exit-on-error", "--dbname="+beside.String(), file)
		d.exec(ctx, t, server.String(), swap...)
	}
}

// copyServer copies all data of a database's own server. The copy takes the server's place and recovers to its last change, either
// as a replica that is promoted, on a new timeline, or as if nothing had happened.
func copyServer(promote bool) func(d *drill, ctx context.Context, t *testing.T, database string) restore {
	return func(d *drill, ctx context.Context, t *testing.T, database string) restore {
		t.Helper()
		own := d.dedicated[database]
		require.NotNil(t, own, "the disaster needs a server of its own for %s", database)
		data := queryOne[string](ctx, t, own.instance.Address, "SHOW data_directory")
		backup := data + ".backup"
		d.postgresProgram(ctx, t, database, "pg_basebackup",
			"--pgdata="+backup, "--checkpoint=fast", "--wal-method=stream", "--dbname="+own.instance.Address)
		return func(ctx context.Context, t *testing.T) {
			t.Helper()
			own.busy.Lock()
			defer own.busy.Unlock()
			require.NoError(t, own.end(ctx, syscall.SIGQUIT))
			require.NoError(t, os.Rename(data, data+".lost"))
			require.NoError(t, os.Rename(backup, data))
			if promote {
				require.NoError(t, os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o600))
			}
			require.NoError(t, own.start(ctx))
			if promote {
				d.exec(ctx, t, own.instance.Address, "SELECT pg_promote()")
			}
		}
	}
}
