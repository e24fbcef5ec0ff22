//go:build faults

package faults_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
)

// searchPersonalData looks for the marked values in everything that the platform stores or writes: logs, databases, Redis
// and the files of Kafka. No log may contain a panic.
func (f *fixture) searchPersonalData(t *testing.T) {
	t.Helper()
	search := func(where, text string) {
		if violation := findPersonal(where, text); violation != "" {
			f.failed(leak, f.began, time.Now(), "%s", violation)
		}
	}
	eachFile(t, f.logs, func(name, text string) {
		search(name, text)
		for _, crash := range []string{"panic: ", `"msg":"panic"`, "fatal error: "} {
			if strings.Contains(text, crash) {
				f.failed(answers, f.began, time.Now(), "%s has %q", name, crash)
			}
		}
	})
	eachFile(t, filepath.Join(filepath.Dir(f.config.Dir), "kafka"), search)
	for _, database := range local.Databases(f.config.Name) {
		for _, row := range f.rows(t, strings.TrimPrefix(database, f.config.Name+"_")) {
			search("a row of "+database, row)
		}
	}
	require.NoError(t, f.inRedis(t.Context(), func(ctx context.Context, client *redis.Client) error {
		values, err := dumpRedis(ctx, client)
		for key, value := range values {
			search("Redis", key+value)
		}
		return err
	}))
	f.passed(leak, f.began, time.Now())
}

// dumpRedis returns what each key holds, as Redis writes it to its file. A key may expire meanwhile.
func dumpRedis(ctx context.Context, client *redis.Client) (values map[string]string, err error) {
	// Compressed values cannot be searched.
	if err := client.ConfigSet(ctx, "rdbcompression", "no").Err(); err != nil {
		return nil, err
	}
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	values = map[string]string{}
	for _, key := range keys {
		if values[key], err = client.Dump(ctx, key).Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return values, nil
}

func eachFile(t *testing.T, dir string, look func(name, text string)) {
	t.Helper()
	files := os.DirFS(dir)
	require.NoError(t, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil // A server has deleted it meanwhile, or it is a folder.
		}
		if err != nil {
			return err
		}
		raw, err := fs.ReadFile(files, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		look(filepath.Join(dir, path), string(raw))
		return err
	}))
}

// rows returns every row of every table of the database as text.
func (f *fixture) rows(t *testing.T, database string) (rows []string) {
	t.Helper()
	conn := f.connect(t, database)
	query := func(sql string) []string {
		found, err := conn.Query(t.Context(), sql)
		require.NoError(t, err)
		texts, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		return texts
	}
	for _, table := range query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") {
		rows = append(rows, query("SELECT t::text FROM "+pgx.Identifier{table}.Sanitize()+" t")...)
	}
	require.NotEmpty(t, rows)
	return rows
}
