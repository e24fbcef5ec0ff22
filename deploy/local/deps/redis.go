package deps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// RedisConfig says which Redis to use.
type RedisConfig struct {
	URL  string // when set, nothing else counts
	Dir  string // keeps the data of a real server
	Port int
	// RequireReal refuses the embedded one, and installs the server's program where that is allowed.
	RequireReal bool
	// Ephemeral writes nothing to disk.
	Ephemeral bool
	Log       *slog.Logger
}

var errNoRedis = errors.New("no redis-server program")

// StartRedis starts a redis-server that listens on loopback only, or uses the given Redis. Where there is no such
// program an embedded one takes its place, which forgets everything when it stops.
func StartRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	if cfg.URL != "" {
		return given(cfg.URL), nil
	}
	instance, err := startRedis(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	return instance, nil
}

func startRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	path, err := findRedis()
	if err != nil && cfg.RequireReal {
		cfg.Log.Info("no Redis server found, installing the distribution's package")
		path, err = installRedis(ctx)
	}
	if err != nil && cfg.RequireReal {
		return nil, err
	}
	if err != nil {
		return startEmbeddedRedis(ctx, cfg)
	}
	return startRedisServer(ctx, cfg, path)
}

func findRedis() (string, error) {
	// Debian ships the server as redis-check-rdb in redis-tools: one program, which goes by the name it is called by.
	for _, name := range []string{"redis-server", "redis-check-rdb"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoRedis
}

// installRedis installs redis-tools, which holds the program; redis-server would only add a service that starts.
func installRedis(ctx context.Context) (string, error) {
	if err := installPackages(ctx, "redis-tools"); err != nil {
		return "", err
	}
	return findRedis()
}

func startRedisServer(ctx context.Context, cfg RedisConfig, path string) (*Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	server, err := runRedis(ctx, redisProgram(cfg, path, dir), cfg.Port)
	if err != nil {
		lock.release()
		return nil, err
	}
	cfg.Log.Info("Redis is up", "kind", Server, "port", cfg.Port, "program", path)
	return serverInstance(redisURL(cfg.Port), Server, server, lock), nil
}

func redisProgram(cfg RedisConfig, path, dir string) program {
	save := "60 1" // after a minute with a change, and on an orderly stop
	if cfg.Ephemeral {
		save = ""
	}
	return program{
		name:    "Redis",
		path:    path,
		as:      "redis-server",
		args:    []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(cfg.Port), "--dir", dir, "--save", save, "--appendonly", "no"},
		dir:     dir,
		quit:    syscall.SIGTERM,
		log:     filepath.Join(dir, "redis.log"),
		pidFile: filepath.Join(dir, "redis.pid"),
	}
}

func runRedis(ctx context.Context, server program, port int) (*process, error) {
	if err := server.endOrphans(ctx); err != nil {
		return nil, err
	}
	if err := requireFree(ctx, "Redis", port); err != nil {
		return nil, err
	}
	running, err := server.run(ctx)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(&redis.Options{Addr: loopback(port), MaxRetries: -1})
	defer func() { _ = client.Close() }()
	err = running.untilReady(ctx, func(ctx context.Context) error { return client.Ping(ctx).Err() })
	if err != nil {
		return nil, err
	}
	return running, nil
}

func redisURL(port int) string {
	return "redis://" + loopback(port)
}
