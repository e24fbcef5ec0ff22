//go:build faults

package e2e_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
)

// site is a platform whose services are processes of their own, on servers that the test can stop.
type site struct {
	*platform
	dir      string
	servers  servers
	members  []*member
	postgres *deps.Instance
	redis    *deps.Instance
	kafka    *deps.Instance
}

// servers say how each server is started, the first time and every later time.
type servers struct {
	postgres deps.PostgreSQLConfig
	redis    deps.RedisConfig
	kafka    deps.KafkaConfig
}

// newSite prepares the databases and the demo with a stack in this process, and gives its addresses over to members.
func newSite(t *testing.T, binaries, relayFault string) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	s.startServers(t)
	t.Setenv(postgresVariable, s.postgres.Address)
	t.Setenv(redisVariable, s.redis.Address)
	t.Setenv(kafkaVariable, s.kafka.Address)
	cfg := newConfig(t)
	stack, err := local.Start(t.Context(), cfg)
	require.NoError(t, err)
	s.platform = &platform{config: cfg, env: stack.Env}
	require.NoError(t, stack.Stop(t.Context()))
	s.widenCommits(t)
	s.members = s.newMembers(t, binaries, relayFault)
	t.Cleanup(func() {
		for _, m := range s.members {
			m.end()
		}
	})
	for _, m := range s.members {
		require.NoError(t, m.start(t.Context()))
	}
	return s
}

func (s *site) startServers(t *testing.T) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ports := make([]int, 3)
	for i := range ports {
		port, err := deps.FreePort(t.Context())
		require.NoError(t, err)
		ports[i] = port
	}
	s.servers = servers{
		postgres: deps.PostgreSQLConfig{Dir: filepath.Join(s.dir, "postgres"), Port: ports[0], Ephemeral: true, Log: log},
		redis:    deps.RedisConfig{Dir: filepath.Join(s.dir, "redis"), Port: ports[1], Ephemeral: true, RequireReal: true, Log: log},
		kafka: deps.KafkaConfig{
			Dir: filepath.Join(s.dir, "kafka"), Port: ports[2], PreferApache: true, JarsDir: kafkaJars(t), Log: log,
		},
	}
	t.Cleanup(func() { require.NoError(t, s.stopServers(context.WithoutCancel(t.Context()))) })
	var err error
	s.postgres, err = deps.StartPostgreSQL(t.Context(), s.servers.postgres)
	require.NoError(t, err)
	s.redis, err = deps.StartRedis(t.Context(), s.servers.redis)
	require.NoError(t, err)
	s.kafka, err = deps.StartKafka(t.Context(), s.servers.kafka)
	require.NoError(t, err)
	t.Logf("PostgreSQL: %s, Redis: %s, Kafka: %s", s.postgres.Kind, s.redis.Kind, s.kafka.Kind)
}

func (s *site) stopServers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var failures error
	for _, server := range []*deps.Instance{s.kafka, s.redis, s.postgres} {
		if server != nil {
			failures = errors.Join(failures, server.Stop(ctx))
		}
	}
	return errors.Join(failures, deps.RemoveData(s.dir))
}

// kafkaJars is where `make test` keeps them too, so that they are fetched once.
func kafkaJars(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(dir, ".local", "kafka")
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "no go.work above")
		dir = filepath.Dir(dir)
	}
}

// slowCommits makes each commit that records an event wait for a random time, mostly a short one, after its time of
// record is taken and before anybody sees it. It is the window in which a relay may go wrong.
const slowCommits = `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_sleep(0.25 * power(random(), 4));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION slow_commit()`

func (s *site) widenCommits(t *testing.T) {
	t.Helper()
	for _, database := range []string{"orders", "links"} {
		conn, err := pgx.Connect(t.Context(), s.database(database))
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), slowCommits)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
	}
}

func (s *site) database(name string) string {
	return strings.Replace(s.config.PostgresURL, "/postgres?", "/"+s.config.Name+"_"+name+"?", 1)
}

// pauseFor waits without a clock of its own to hold on to.
func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
