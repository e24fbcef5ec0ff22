//go:build faults

package faults_test

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// fault is something that is done to a site.
type fault struct {
	// kind is its row in the table; what says to whom and for how long.
	kind, what string
	// held are what nothing else may be done to meanwhile.
	held []*sync.Mutex
	// long ones are not counted among those that are under way at once.
	long bool
	act  func(ctx context.Context) error
}

// card draws a fault of one kind.
type card func(random *mathrand.Rand) fault

// deck has every kind of fault at least once. Dealt again and again, it leaves none out for long.
func (s *site) deck() []card {
	cards := []card{s.killBoth, s.killAll, s.flush}
	for _, p := range programs {
		both := s.of(p.name)
		for range 3 {
			cards = append(cards, func(random *mathrand.Rand) fault { return s.kill(both[random.IntN(len(both))], briefly(random)) })
		}
		for range 2 {
			cards = append(cards, func(random *mathrand.Rand) fault { return s.pause(both[random.IntN(len(both))], mostlyBriefly(random)) })
		}
	}
	for _, one := range []struct {
		server         *server
		orderly, crash syscall.Signal
	}{
		{s.postgres, syscall.SIGINT, syscall.SIGQUIT}, {s.kafka, syscall.SIGTERM, syscall.SIGKILL}, {s.redis, syscall.SIGTERM, syscall.SIGKILL},
	} {
		cards = append(cards,
			func(random *mathrand.Rand) fault {
				return s.restart("restart ", one.server, one.orderly, briefly(random))
			},
			func(random *mathrand.Rand) fault { return s.restart("crash ", one.server, one.crash, briefly(random)) },
			func(random *mathrand.Rand) fault { return s.pauseServer(one.server, briefly(random)) })
	}
	for _, class := range []string{toPostgres, toRedis, toKafka, toServices, toGateways, toReceivers} {
		links := s.network.of(class)
		cards = append(cards,
			func(random *mathrand.Rand) fault { return cutLink(links[random.IntN(len(links))], briefly(random)) },
			func(random *mathrand.Rand) fault { return cutLink(links[random.IntN(len(links))], briefly(random)) },
			func(random *mathrand.Rand) fault {
				return silenceLink(links[random.IntN(len(links))], mostlyBriefly(random))
			},
			func(random *mathrand.Rand) fault {
				return slowLink(links[random.IntN(len(links))], random, mostlyBriefly(random))
			})
	}
	return cards
}

func briefly(random *mathrand.Rand) time.Duration {
	return time.Duration(random.Int64N(int64(2 * time.Second))).Round(time.Millisecond)
}

// mostlyBriefly is at times longer than the lease of a leader, the time-out of a statement, and a consumer's session.
func mostlyBriefly(random *mathrand.Rand) time.Duration {
	if random.IntN(5) == 0 {
		return briefly(random) + 12*time.Second
	}
	return briefly(random)
}

func (s *site) kill(i *instance, down time.Duration) fault {
	return fault{
		kind: "kill -9 " + i.program, what: fmt.Sprintf("kill -9 %s, down for %s", i.name, down), held: []*sync.Mutex{&i.busy},
		act: func(ctx context.Context) error { return killed(ctx, []*instance{i}, down) },
	}
}

// killBoth leaves nobody to do the work of a program.
func (s *site) killBoth(random *mathrand.Rand) fault {
	both, down := s.of(programs[random.IntN(len(programs))].name), briefly(random)
	return fault{
		kind: "kill -9 both instances", what: fmt.Sprintf("kill -9 %s and %s, down for %s", both[0].name, both[1].name, down),
		held: []*sync.Mutex{&both[0].busy, &both[1].busy},
		act:  func(ctx context.Context) error { return killed(ctx, both, down) },
	}
}

func (s *site) killAll(random *mathrand.Rand) fault {
	down := briefly(random)
	f := fault{
		kind: "kill -9 everything", what: fmt.Sprintf("kill -9 of every instance, down for %s", down),
		act: func(ctx context.Context) error { return killed(ctx, s.instances, down) },
	}
	for _, i := range s.instances {
		f.held = append(f.held, &i.busy)
	}
	return f
}

func (s *site) pause(i *instance, d time.Duration) fault {
	return fault{
		kind: "pause " + i.program, what: fmt.Sprintf("pause %s for %s", i.name, d), held: []*sync.Mutex{&i.busy},
		act: func(ctx context.Context) error { return i.pause(ctx, d) },
	}
}

func (s *site) restart(word string, one *server, signal syscall.Signal, down time.Duration) fault {
	return fault{
		kind: word + one.name, what: fmt.Sprintf("%s%s (%s), down for %s", word, one.name, signal, down), held: []*sync.Mutex{&one.busy},
		act: func(ctx context.Context) error { return one.restart(ctx, signal, down) },
	}
}

func (s *site) pauseServer(one *server, d time.Duration) fault {
	return fault{
		kind: "pause " + one.name, what: fmt.Sprintf("pause %s for %s", one.name, d), held: []*sync.Mutex{&one.busy},
		act: func(ctx context.Context) error { return one.pause(ctx, d) },
	}
}

func (s *site) flush(*mathrand.Rand) fault {
	return fault{kind: "flush Redis", what: "flush Redis", held: []*sync.Mutex{&s.redis.busy}, act: s.flushRedis}
}

func cutLink(l *link, d time.Duration) fault {
	return fault{
		kind: "cut to " + l.class, what: fmt.Sprintf("cut %s for %s", l.name, d), held: []*sync.Mutex{&l.busy},
		act: func(ctx context.Context) error {
			l.cut()
			pauseFor(ctx, d)
			return l.mend()
		},
	}
}

func silenceLink(l *link, d time.Duration) fault {
	return fault{
		kind: "silence to " + l.class, what: fmt.Sprintf("silence %s for %s", l.name, d), held: []*sync.Mutex{&l.busy},
		act: func(ctx context.Context) error {
			defer l.clear(ctx)
			err := l.silence()
			pauseFor(ctx, d)
			return err
		},
	}
}

func slowLink(l *link, random *mathrand.Rand, d time.Duration) fault {
	delay := 20 + random.Int64N(400)
	return fault{
		kind: "slow to " + l.class, what: fmt.Sprintf("slow %s by %d ms for %s", l.name, delay, d), held: []*sync.Mutex{&l.busy},
		act: func(ctx context.Context) error {
			defer l.clear(ctx)
			err := l.slow(delay)
			pauseFor(ctx, d)
			return err
		},
	}
}
