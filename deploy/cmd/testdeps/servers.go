package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/testenv"
)

const stopTimeout = 30 * time.Second

// servers are the servers of one run, with their data in a directory named after this process.
type servers struct {
	*deps.Set
	dir string
}

func start(ctx context.Context, local string, durable bool, log *slog.Logger) (*servers, error) {
	if err := errors.Join(sweep(local), sweep(memory)); err != nil {
		return nil, err
	}
	var ports [3]int
	for i := range ports {
		port, err := deps.FreePort(ctx)
		if err != nil {
			return nil, err
		}
		ports[i] = port
	}
	folder := local
	if !durable && hasRoom(memory) {
		folder = memory
	}
	dir := filepath.Join(folder, prefix+strconv.Itoa(os.Getpid()))
	var brokers []string
	if given := os.Getenv(testenv.KafkaBrokers); given != "" {
		brokers = strings.Split(given, ",")
	}
	set, err := deps.Start(ctx,
		deps.PostgreSQLConfig{
			URL: os.Getenv(testenv.PostgresURL), Dir: filepath.Join(dir, "postgres"), Port: ports[0],
			Ephemeral: !durable, CountsStatements: durable, Log: log,
		},
		deps.RedisConfig{
			URL: os.Getenv(testenv.RedisURL), Dir: filepath.Join(dir, "redis"), Port: ports[1], RequireReal: true, Ephemeral: true, Log: log,
		},
		deps.KafkaConfig{
			Brokers: brokers, Dir: filepath.Join(dir, "kafka"), Port: ports[2], PreferApache: true, JarsDir: filepath.Join(local, "kafka"),
			Log: log,
		})
	if err != nil {
		return nil, errors.Join(err, deps.RemoveData(dir))
	}
	return &servers{Set: set, dir: dir}, nil
}

func (s *servers) environment() []string {
	kind := string(s.Kafka.Kind)
	if known := os.Getenv(testenv.KafkaKind); known != "" && s.Kafka.Kind == deps.Given {
		kind = known
	}
	return []string{
		testenv.PostgresURL + "=" + s.PostgreSQL.Address,
		testenv.RedisURL + "=" + s.Redis.Address,
		testenv.KafkaBrokers + "=" + s.Kafka.Address,
		testenv.KafkaKind + "=" + kind,
	}
}

// stop stops what was started and removes the data.
func (s *servers) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	return errors.Join(s.Stop(ctx), deps.RemoveData(s.dir))
}

const (
	// prefix begins the name of a run's directory; its process number follows.
	prefix = "gifting-test-"
	// memory is a file system in memory. On a disk, most of the time of tests goes into making and removing the files of databases.
	memory = "/dev/shm"
	// room is what the data of all tests needs.
	room = 4 << 30
)

func hasRoom(folder string) bool {
	var found syscall.Statfs_t
	if syscall.Statfs(folder, &found) != nil {
		return false
	}
	return found.Bavail*uint64(found.Bsize) >= room //nolint:gosec // A block has a positive size.
}

// sweep removes the directories of this user's killed runs. Other users share the file system in memory.
func sweep(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, prefix+"*"))
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), prefix))
		if err != nil || running(pid) || !owned(dir) {
			continue
		}
		if err := deps.RemoveData(dir); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

func owned(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}

func running(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

var errNoWorkspace = errors.New("no go.work in this directory or above: run testdeps inside the repository")

// localDir is .local beside go.work.
func localDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(dir, ".local"), nil
		}
	}
	return "", errNoWorkspace
}
