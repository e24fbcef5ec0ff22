//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/deploy/programs"
)

// fault is something that goes wrong in a deployment.
type fault struct {
	// kind is its row in the table; description says where and for how long.
	kind, description string
	// busy holds the locks of the parts that it uses.
	busy []*sync.Mutex
	// long faults do not count as concurrent ones.
	long   bool
	inject func(ctx context.Context) error
}

// draw draws a fault of one kind.
type draw func(random *mathrand.Rand) fault

// faultKinds returns every kind of fault at least once. The schedule uses the whole list before it repeats it, so that every
// kind occurs.
func (d *deployment) faultKinds() []draw {
	draws := []draw{d.killBoth, d.killAll, d.flush, d.slowRedis, d.slowRedis, d.fullRedis, d.readOnlyRedis}
	for _, p := range programs.All() {
		both := d.of(p.Name)
		kill := func(random *mathrand.Rand) fault { return d.kill(oneOf(random, both), shortTime(random)) }
		pause := func(random *mathrand.Rand) fault { return d.pause(oneOf(random, both), mostlyShortTime(random)) }
		draws = append(draws, kill, kill, kill, pause, pause)
	}
	for _, of := range []struct {
		server        *server
		normal, crash syscall.Signal
	}{
		{d.postgres, syscall.SIGINT, syscall.SIGQUIT},
		{d.kafka, syscall.SIGTERM, syscall.SIGKILL},
		{d.redis, syscall.SIGTERM, syscall.SIGKILL},
	} {
		draws = append(draws,
			func(random *mathrand.Rand) fault {
				return d.restart("restart ", of.server, of.normal, shortTime(random))
			},
			func(random *mathrand.Rand) fault { return d.restart("crash ", of.server, of.crash, shortTime(random)) },
			func(random *mathrand.Rand) fault { return d.pauseServer(of.server, shortTime(random)) })
	}
	for _, class := range []string{toPostgres, toRedis, toKafka, toServices, toGateways, toReceivers} {
		routes := d.network.of(class)
		cut := func(random *mathrand.Rand) fault { return cutRoute(oneOf(random, routes), shortTime(random)) }
		draws = append(draws, cut, cut,
			func(random *mathrand.Rand) fault {
				return silenceRoute(oneOf(random, routes), mostlyShortTime(random))
			},
			func(random *mathrand.Rand) fault {
				return slowRoute(oneOf(random, routes), random, mostlyShortTime(random))
			})
	}
	return draws
}

func oneOf[T any](random *mathrand.Rand, list []T) T { return list[random.IntN(len(list))] }

func shortTime(random *mathrand.Rand) time.Duration {
	return time.Duration(random.Int64N(int64(2 * time.Second))).Round(time.Millisecond)
}

// mostlyShortTime is sometimes longer than the session of a leader, the timeout of a statement, and a consumer's session.
func mostlyShortTime(random *mathrand.Rand) time.Duration {
	if random.IntN(5) == 0 {
		return shortTime(random) + 12*time.Second
	}
	return shortTime(random)
}

func newFault(kind, description string, inject func(ctx context.Context) error, busy ...*sync.Mutex) fault {
	return fault{kind: kind, description: description, busy: busy, inject: inject}
}

func (d *deployment) kill(i *instance, down time.Duration) fault {
	return killed("kill -9 "+string(i.program.Name), i.name, down, i)
}

// killBoth kills both instances of a program.
func (d *deployment) killBoth(random *mathrand.Rand) fault {
	both := d.of(oneOf(random, programs.All()).Name)
	return killed("kill -9 both instances", both[0].name+" and "+both[1].name, shortTime(random), both...)
}

func (d *deployment) killAll(random *mathrand.Rand) fault {
	return killed("kill -9 everything", "every instance", shortTime(random), d.instances...)
}

func killed(kind, names string, down time.Duration, instances ...*instance) fault {
	f := newFault(kind, fmt.Sprintf("kill -9 %s, down for %s", names, down), func(ctx context.Context) error {
		return killFor(ctx, instances, down)
	})
	for _, i := range instances {
		f.busy = append(f.busy, &i.busy)
	}
	return f
}

func (d *deployment) pause(i *instance, length time.Duration) fault {
	return newFault("pause "+string(i.program.Name), fmt.Sprintf("pause %s for %s", i.name, length), func(ctx context.Context) error {
		return i.pause(ctx, length)
	}, &i.busy)
}

func (d *deployment) pauseServer(s *server, length time.Duration) fault {
	return newFault("pause "+s.name, fmt.Sprintf("pause %s for %s", s.name, length), func(ctx context.Context) error {
		return s.pause(ctx, length)
	}, &s.busy)
}

func (d *deployment) restart(word string, s *server, signal syscall.Signal, down time.Duration) fault {
	return newFault(word+s.name, fmt.Sprintf("%s%s (%s), down for %s", word, s.name, signal, down), func(ctx context.Context) error {
		return s.restart(ctx, signal, down)
	}, &s.busy)
}

func (d *deployment) flush(*mathrand.Rand) fault {
	return newFault("flush Redis", "flush Redis", func(ctx context.Context) error {
		return d.inRedis(ctx, func(ctx context.Context, client *redis.Client) error { return client.FlushAll(ctx).Err() })
	}, &d.redis.busy)
}

// fullRedis lets Redis refuse writes that need memory. It goes on answering reads.
func (d *deployment) fullRedis(random *mathrand.Rand) fault {
	return d.refusingRedis("full Redis", mostlyShortTime(random), []any{"CONFIG", "SET", "maxmemory", "1"},
		[]any{"CONFIG", "SET", "maxmemory", "0"})
}

// readOnlyRedis makes Redis a replica, as after a fail-over that the programs have not noticed.
func (d *deployment) readOnlyRedis(random *mathrand.Rand) fault {
	return d.refusingRedis("read-only Redis", mostlyShortTime(random), []any{"REPLICAOF", "127.0.0.1", "1"},
		[]any{"REPLICAOF", "NO", "ONE"})
}

func (d *deployment) refusingRedis(kind string, length time.Duration, begin, end []any) fault {
	return newFault(kind, fmt.Sprintf("%s for %s", kind, length), func(ctx context.Context) error {
		do := func(command []any) error {
			return d.inRedis(context.WithoutCancel(ctx),
				func(ctx context.Context, client *redis.Client) error { return client.Do(ctx, command...).Err() })
		}
		err := do(begin)
		sleep(ctx, length)
		return errors.Join(err, do(end))
	}, &d.redis.busy)
}

func cutRoute(r *route, length time.Duration) fault {
	return onRoute(r, "cut", "cut "+r.name, length, func() error {
		r.cut()
		return nil
	}, func(context.Context) error { return r.restore() })
}

func silenceRoute(r *route, length time.Duration) fault {
	return onRoute(r, "silence", "silence "+r.name, length, r.silence, r.clear)
}

func slowRoute(r *route, random *mathrand.Rand, length time.Duration) fault {
	delay := 20 + random.Int64N(400)
	return onRoute(r, "slow", fmt.Sprintf("slow %s by %d ms", r.name, delay), length, func() error { return r.slow(delay) }, r.clear)
}

// maxRedisDelay is how much longer a call of Redis may take, in milliseconds: longer than the gateways wait.
const maxRedisDelay = 500

// slowRedis slows Redis down for all instances.
func (d *deployment) slowRedis(random *mathrand.Rand) fault {
	routes, delay, length := d.network.of(toRedis), random.Int64N(maxRedisDelay), mostlyShortTime(random)
	f := newFault("slow Redis", fmt.Sprintf("slow Redis by %d ms for %s", delay, length), func(ctx context.Context) (err error) {
		for _, r := range routes {
			err = errors.Join(err, r.delay(delay, 0, "downstream"))
		}
		sleep(ctx, length)
		for _, r := range routes {
			err = errors.Join(err, r.clear(ctx))
		}
		return err
	})
	for _, r := range routes {
		f.busy = append(f.busy, &r.busy)
	}
	return f
}

func onRoute(
	r *route, word, description string, length time.Duration, begin func() error, end func(ctx context.Context) error,
) fault {
	return newFault(word+" to "+r.class, fmt.Sprintf("%s for %s", description, length), func(ctx context.Context) error {
		err := begin()
		sleep(ctx, length)
		return errors.Join(err, end(ctx))
	}, &r.busy)
}
