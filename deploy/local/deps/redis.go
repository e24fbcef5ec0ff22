package deps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// RedisConfig configures the Redis to use.
type RedisConfig struct {
	URL  string // if set, all other fields are ignored
	Dir  string // holds the data of a real server
	Port int
	// RequireReal refuses the embedded Redis, and installs the server program if that is allowed.
	RequireReal bool
	// Ephemeral writes nothing to disk.
	Ephemeral bool
	Log       *slog.Logger
}

var errNoRedis = errors.New("no redis-server program")

// StartRedis starts a redis-server that listens on loopback only, or uses the given Redis. Without the program it starts an
// embedded one, which loses its data when it stops.
func StartRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	if cfg.URL != "" {
		return &Instance{Name: "Redis", Address: cfg.URL, Kind: Given}, nil
	}
	instance, err := startRedis(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	cfg.Log.Info("Redis is up", "kind", instance.Kind, "port", cfg.Port)
	return instance, nil
}

func startRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	path, err := findRedis()
	if err != nil && cfg.RequireReal {
		cfg.Log.Info("no Redis server found, installing the distribution's package")
		// redis-tools holds the program; the package redis-server would only add a service.
		if err := installPackages(ctx, "redis-tools"); err != nil {
			return nil, err
		}
		path, err = findRedis()
	}
	if err != nil && cfg.RequireReal {
		return nil, err
	}
	if err != nil {
		return startEmbeddedRedis(ctx, cfg)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	return locked(dir, func() (*Instance, error) { return redisServer(cfg, path, dir).start(ctx) })
}

func findRedis() (string, error) {
	// Debian ships the server as redis-check-rdb in redis-tools: it is one program whose name decides what it does.
	for _, name := range []string{"redis-server", "redis-check-rdb"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoRedis
}

func redisServer(cfg RedisConfig, path, dir string) server {
	save := "60 1" // It saves after a minute with a change, and on an orderly stop.
	if cfg.Ephemeral {
		save = ""
	}
	return server{
		name: "Redis", address: redisURL(cfg.Port), kind: Server, port: cfg.Port, path: path, argv0: "redis-server",
		args: []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(cfg.Port), "--dir", dir, "--save", save, "--appendonly", "no"},
		dir:  dir, quit: syscall.SIGTERM, log: filepath.Join(dir, "redis.log"), pidFile: filepath.Join(dir, "redis.pid"),
		ready: func(ctx context.Context) error {
			client := redis.NewClient(&redis.Options{Addr: loopback(cfg.Port), MaxRetries: -1})
			defer func() { _ = client.Close() }()
			return client.Ping(ctx).Err()
		},
	}
}

func redisURL(port int) string { return "redis://" + loopback(port) }

// expiryStep is the precision of expiry in the embedded Redis.
const expiryStep = 100 * time.Millisecond

func startEmbeddedRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	if err := RequireFree(ctx, "Redis", cfg.Port); err != nil {
		return nil, err
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(loopback(cfg.Port)); err != nil {
		return nil, err
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		passTime(server, quit)
	}()
	return &Instance{Name: "Redis", Address: redisURL(cfg.Port), Kind: Embedded, stop: func(context.Context) error {
		close(quit)
		<-done
		server.Close()
		return nil
	}}, nil
}

// passTime makes keys expire, because miniredis does not use the clock.
func passTime(server *miniredis.Miniredis, quit <-chan struct{}) {
	ticker := time.NewTicker(expiryStep)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-quit:
			return
		case now := <-ticker.C:
			server.FastForward(now.Sub(last))
			last = now
		}
	}
}
