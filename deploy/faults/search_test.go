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

// searchPersonalData looks for the marked values in everything that the platform keeps or tells: logs, databases, Redis and
// the files of Kafka. No log may tell of a panic either, whether it ended a program, a request or a call.
func (c *scene) searchPersonalData(t *testing.T) {
	t.Helper()
	found := func(where, text string) {
		if wrong := personal(where, text); wrong != "" {
			c.broken(leak, c.began, time.Now(), "%s", wrong)
		}
	}
	eachFile(t, c.logs, func(name, text string) {
		found(name, text)
		for _, crash := range []string{"panic: ", `"msg":"panic"`, "fatal error: "} {
			if strings.Contains(text, crash) {
				c.broken(answers, c.began, time.Now(), "%s has %q", name, crash)
			}
		}
	})
	eachFile(t, filepath.Join(filepath.Dir(c.config.Dir), "kafka"), found)
	for _, database := range local.Databases(c.config.Name) {
		for _, row := range c.rows(t, strings.TrimPrefix(database, c.config.Name+"_")) {
			found("a row of "+database, row)
		}
	}
	values, err := c.inRedis(t.Context())
	require.NoError(t, err)
	for key, value := range values {
		found("Redis", key+value)
	}
	c.kept(leak, c.began, time.Now())
}

// inRedis gives what each key holds, as Redis would write it down. A key may run out meanwhile.
func (c *scene) inRedis(ctx context.Context) (map[string]string, error) {
	options, err := redis.ParseURL(c.redis.instance.Address)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	// What is compressed cannot be searched.
	if err := client.ConfigSet(ctx, "rdbcompression", "no").Err(); err != nil {
		return nil, err
	}
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
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
			return nil // A server still tidies up, or it is a folder.
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

// rows gives every row of every table of the database as text.
func (c *scene) rows(t *testing.T, database string) (rows []string) {
	t.Helper()
	conn := c.connect(t, database)
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
