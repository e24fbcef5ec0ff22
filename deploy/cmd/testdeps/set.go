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
)

// The variables that a command finds its dependencies in.
const (
	postgresURL  = "GIFTING_TEST_POSTGRES_URL"
	redisURL     = "GIFTING_TEST_REDIS_URL"
	kafkaBrokers = "GIFTING_TEST_KAFKA_BROKERS"
	kafkaKind    = "GIFTING_TEST_KAFKA_KIND"
)

const stopTimeout = 30 * time.Second

// set is the dependencies of one run, in a directory named after this process.
type set struct {
	dir string
	// durable: PostgreSQL waits for the disk.
	durable                bool
	postgres, redis, kafka *deps.Instance
}

func startSet(ctx context.Context, durable bool, log *slog.Logger) (*set, error) {
	local, err := localDir()
	if err != nil {
		return nil, err
	}
	if err := sweep(local); err != nil {
		return nil, err
	}
	s := &set{dir: filepath.Join(local, prefix+strconv.Itoa(os.Getpid())), durable: durable}
	if err := s.start(ctx, local, log); err != nil {
		return nil, errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	log.Info("dependencies are up", "postgres", s.postgres.Kind, "redis", s.redis.Kind, "kafka", s.kafka.Kind)
	return s, nil
}

func (s *set) start(ctx context.Context, local string, log *slog.Logger) error {
	ports := make([]int, 3)
	for i := range ports {
		port, err := deps.FreePort(ctx)
		if err != nil {
			return err
		}
		ports[i] = port
	}
	var err error
	s.postgres, err = deps.StartPostgreSQL(ctx, deps.PostgreSQLConfig{
		URL: os.Getenv(postgresURL), Dir: filepath.Join(s.dir, "postgres"), Port: ports[0], Ephemeral: !s.durable, Log: log,
	})
	if err != nil {
		return err
	}
	s.redis, err = deps.StartRedis(ctx, deps.RedisConfig{
		URL: os.Getenv(redisURL), Dir: filepath.Join(s.dir, "redis"), Port: ports[1], RequireReal: true, Ephemeral: true, Log: log,
	})
	if err != nil {
		return err
	}
	s.kafka, err = deps.StartKafka(ctx, deps.KafkaConfig{
		Brokers: givenBrokers(), Dir: filepath.Join(s.dir, "kafka"), Port: ports[2],
		PreferApache: true, JarsDir: filepath.Join(local, "kafka"), Log: log,
	})
	return err
}

func givenBrokers() []string {
	if brokers := os.Getenv(kafkaBrokers); brokers != "" {
		return strings.Split(brokers, ",")
	}
	return nil
}

func (s *set) environment() []string {
	kind := string(s.kafka.Kind)
	if told := os.Getenv(kafkaKind); told != "" && s.kafka.Kind == deps.Given {
		kind = told
	}
	return []string{
		postgresURL + "=" + s.postgres.Address,
		redisURL + "=" + s.redis.Address,
		kafkaBrokers + "=" + s.kafka.Address,
		kafkaKind + "=" + kind,
	}
}

// stop stops what was started and removes the data.
func (s *set) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var failures error
	for _, instance := range []*deps.Instance{s.kafka, s.redis, s.postgres} {
		if instance != nil {
			failures = errors.Join(failures, instance.Stop(ctx))
		}
	}
	return errors.Join(failures, deps.RemoveData(s.dir))
}

// prefix begins the name of a run's directory; the number of its process follows.
const prefix = "test-"

// sweep removes what runs left that were killed.
func sweep(local string) error {
	left, err := filepath.Glob(filepath.Join(local, prefix+"*"))
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), prefix))
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue // not a run's directory, or the run lives
		}
		if err := deps.RemoveData(dir); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

var errNoWorkspace = errors.New("no go.work in this directory or above: run testdeps inside the repository")

// localDir is .local beside go.work.
func localDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the workspace: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(dir, ".local"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errNoWorkspace
		}
		dir = filepath.Dir(dir)
	}
}
