package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Stack is a running platform.
type Stack struct {
	// Env is the content of demo.env.
	Env map[string]string
	// Programs are the environments in which the programs run, for a test that runs one as a process.
	Programs map[identity.Name]map[string]string

	log     *slog.Logger
	lock    *os.File
	logFile *os.File
	parts   *sequence
}

// Run starts the stack and runs it until ctx ends or a part of it fails, then stops all it started.
func Run(ctx context.Context, cfg Config) error {
	stack, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-stack.parts.failed:
	}
	stack.log.InfoContext(ctx, "Stopping.")
	return errors.Join(failed, stack.Stop(ctx))
}

// Start starts the stack and returns when a first order can be placed. The stack runs until Stop, even when ctx ends. If
// the start fails, it stops what it started.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil { //nolint:gosec // Another user's server may keep its data inside.
		return nil, fmt.Errorf("folder of the stack: %w", err)
	}
	held, err := deps.Lock(filepath.Join(cfg.Dir, "stack.lock"))
	if err != nil {
		return nil, err
	}
	logFile, err := deps.FreshLog(filepath.Join(cfg.Dir, "stack.log"))
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	log := newLog(cfg.Out)
	s := &Stack{log: log, lock: held, logFile: logFile, parts: newSequence(log), Programs: map[identity.Name]map[string]string{}}
	if err := s.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// Stop ends everything that was started, in reverse order, also when ctx has ended.
func (s *Stack) Stop(ctx context.Context) error {
	return errors.Join(s.parts.stop(ctx), s.logFile.Close(), s.lock.Close())
}

func (s *Stack) start(ctx context.Context, cfg Config) error {
	began := time.Now()
	// An old file must not look like a running stack.
	err := os.Remove(EnvFile(cfg.Dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w := wiring{Config: cfg}
	if w.secrets, err = readSecrets(cfg.Dir); err != nil {
		return err
	}
	if w.certificates, err = newCertificates(cfg.Dir, time.Now()); err != nil {
		return err
	}
	if err := s.startDependencies(ctx, &w); err != nil {
		return err
	}
	if err := s.migrate(ctx, w); err != nil {
		return err
	}
	seeded := func(p programs.Program) bool { return p.Name == identity.Tenants || p.Name == identity.Catalog }
	if err := s.startPrograms(ctx, w, seeded); err != nil {
		return err
	}
	demo, err := w.demo(ctx)
	if err != nil {
		return err
	}
	// The inbox starts before the sender, because a failed webhook is tried again only a minute later.
	if err := s.startInbox(ctx, cfg, demo.secret); err != nil {
		return err
	}
	if err := s.startPrograms(ctx, w, func(p programs.Program) bool { return !seeded(p) }); err != nil {
		return err
	}
	return s.announce(w, demo, time.Since(began))
}

func (s *Stack) startDependencies(ctx context.Context, w *wiring) error {
	cfg := w.Config
	servers, err := deps.Start(ctx,
		deps.PostgreSQLConfig{
			URL: cfg.PostgresURL, Dir: filepath.Join(cfg.Dir, "postgres"), Port: cfg.PortBase + postgresPort, Log: s.log,
		},
		deps.RedisConfig{URL: cfg.RedisURL, Dir: filepath.Join(cfg.Dir, "redis"), Port: cfg.PortBase + redisPort, Log: s.log},
		deps.KafkaConfig{Brokers: cfg.KafkaBrokers, Dir: filepath.Join(cfg.Dir, "kafka"), Port: cfg.PortBase + kafkaPort, Log: s.log})
	if err != nil {
		return err
	}
	for _, server := range servers.All() {
		s.parts.add(server.Name, server.Exited(), server.Stop)
	}
	w.redisURL, w.brokers = servers.Redis.Address, servers.Kafka.Address
	w.databases, err = newDatabases(servers.PostgreSQL.Address, cfg.OwnServers, cfg.Name, w.secrets[relayPassword])
	return err
}

// migrate creates the databases and brings them up to date, one after another.
func (s *Stack) migrate(ctx context.Context, w wiring) error {
	if err := w.databases.create(ctx); err != nil {
		return err
	}
	for _, p := range programs.All() {
		env, err := w.environment(p)
		if err != nil {
			return err
		}
		s.Programs[p.Name] = env
		if err := p.Migrate(ctx, env); err != nil {
			return fmt.Errorf("migrate %s: %w", p.Name, err)
		}
	}
	return w.databases.admitRelay(ctx)
}

// startPrograms starts the chosen programs in order, each when the previous one is ready.
func (s *Stack) startPrograms(ctx context.Context, w wiring, chosen func(p programs.Program) bool) error {
	for _, p := range slices.DeleteFunc(programs.All(), func(p programs.Program) bool { return !chosen(p) }) {
		if err := s.startProgram(ctx, w, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func (s *Stack) startProgram(ctx context.Context, w wiring, p programs.Program) error {
	metrics := w.addr(p.Port + programs.MetricsOffset)
	for _, offset := range []int{p.Port, p.GRPCPort, p.Port + programs.MetricsOffset} {
		if err := deps.RequireFree(ctx, string(p.Name), w.PortBase+offset); err != nil {
			return err
		}
	}
	// The program outlives the start, so what it opens must not end with ctx.
	living := context.WithoutCancel(ctx)
	tel, err := telemetry.New(living, string(p.Name), telemetry.Config{MetricsAddr: metrics}, s.logFile)
	if err != nil {
		return err
	}
	opened, err := p.Open(living, s.Programs[p.Name], tel)
	if err != nil {
		return err
	}
	run := func(ctx context.Context) error {
		defer tel.Close(ctx)
		return opened.Run(ctx)
	}
	return s.parts.start(ctx, daemon.Part{Name: string(p.Name), Run: run}, answers("http://"+metrics+"/readyz"))
}

func (w wiring) demo(ctx context.Context) (demo, error) {
	tenants := w.certificates.dial(identity.Tenants, w.addr(programs.Named(identity.Tenants).Port))
	defer func() { _ = tenants.Close() }()
	catalog := w.certificates.dial(identity.Catalog, w.addr(programs.Named(identity.Catalog).Port))
	defer func() { _ = catalog.Close() }()
	return w.prepareDemo(ctx, tenants, catalog)
}

const headerTimeout = 5 * time.Second

func (s *Stack) startInbox(ctx context.Context, cfg Config, secret string) error {
	server := &http.Server{
		Addr:              cfg.addr(inboxPort),
		Handler:           inbox.New(secret).Handler(),
		ReadHeaderTimeout: headerTimeout,
	}
	run := func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
	return s.parts.start(ctx, daemon.Part{Name: "inbox", Run: run}, answers(cfg.inboxURL()+"/"))
}
