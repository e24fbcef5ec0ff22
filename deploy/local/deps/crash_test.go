package deps

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// victimDirVariable is an environment variable. If it has a directory, TestMain runs victim there instead of the tests.
const victimDirVariable = "GIFTING_DEPS_VICTIM_DIR"

type addresses struct {
	PostgreSQL, Redis, Kafka string
}

// victim behaves like a stack: it starts its servers, prints their addresses, and never stops them.
func victim(dir string) error {
	ctx := context.Background()
	postgres, err := startPostgreSQLIn(ctx, dir)
	if err != nil {
		return err
	}
	redis, err := startRedisIn(ctx, dir)
	if err != nil {
		return err
	}
	kafka, err := startEmbeddedKafkaIn(ctx, dir)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(addresses{postgres.Address, redis.Address, kafka.Address}); err != nil {
		return err
	}
	select {}
}

func startPostgreSQLIn(ctx context.Context, dir string) (*Instance, error) {
	port, err := FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return StartPostgreSQL(ctx, PostgreSQLConfig{Dir: filepath.Join(dir, "postgres"), Port: port, Log: quiet})
}

func startRedisIn(ctx context.Context, dir string) (*Instance, error) {
	port, err := FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return StartRedis(ctx, RedisConfig{Dir: filepath.Join(dir, "redis"), Port: port, RequireReal: true, Log: quiet})
}

func startEmbeddedKafkaIn(ctx context.Context, dir string) (*Instance, error) {
	port, err := FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return StartKafka(ctx, KafkaConfig{Dir: filepath.Join(dir, "kafka"), Port: port, Log: quiet})
}

func TestKilledStack(t *testing.T) {
	t.Run("after kill -9 of the process everything starts again on the same directory and keeps what was written", func(t *testing.T) {
		dir := dataDir(t)
		cmd, servers := startVictim(t, dir)
		execSQL(t, servers.PostgreSQL, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1)")
		createTopic(t, servers.Kafka, "kept")
		produce(t, servers.Kafka, "kept", "one")

		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())

		postgres := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		mustStart(t)(startRedisIn(t.Context(), dir))
		kafka := mustStart(t)(startEmbeddedKafkaIn(t.Context(), dir))
		require.Equal(t, 1, countKept(t, postgres.Address))
		require.Equal(t, []string{"one"}, consume(t, kafka.Address, "kept", 1))
	})
}

func TestThePIDFileNamesOnlyAProcessOfTheProgram(t *testing.T) {
	t.Parallel()
	sleep := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, sleep.Start())
	defer func() { _ = sleep.Process.Kill() }()
	s := server{path: "/usr/bin/redis-server", pidFile: filepath.Join(t.TempDir(), "pid")}
	require.NoError(t, s.recordPID(sleep.Process.Pid))
	pids, err := s.recordedPID(t.Context())
	require.NoError(t, err)
	require.Empty(t, pids)

	s.path = "/usr/bin/sleep"
	pids, err = s.recordedPID(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{sleep.Process.Pid}, pids)
}

func startVictim(t *testing.T, dir string) (*exec.Cmd, addresses) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), victimDirVariable+"="+dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err)
	var servers addresses
	require.NoError(t, json.Unmarshal(line, &servers))
	return cmd, servers
}
