package deps

import (
	"context"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// expiryStep is how exactly the embedded Redis keeps time.
const expiryStep = 100 * time.Millisecond

func startEmbeddedRedis(ctx context.Context, cfg RedisConfig) (*Instance, error) {
	if err := requireFree(ctx, "Redis", cfg.Port); err != nil {
		return nil, err
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(loopback(cfg.Port)); err != nil {
		return nil, err
	}
	quit, quitted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quitted)
		passTime(server, quit)
	}()
	cfg.Log.Info("Redis is up", "kind", Embedded, "port", cfg.Port)
	return &Instance{Address: redisURL(cfg.Port), Kind: Embedded, stop: func(context.Context) error {
		close(quit)
		<-quitted
		server.Close()
		return nil
	}}, nil
}

// passTime makes keys expire, which miniredis does only when told how much time has passed.
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
