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
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Stack is a running platform.
type Stack struct {
	// Env is the content of demo.env.
	Env map[string]string
	// Programs are the environments in which the programs run, for a test that runs one as a process.
	Programs map[identity.Name]map[string]string
	// Cells are the environments of the programs of further cells, by the letter of their cell.
	Cells map[string]map[identity.Name]map[string]string

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
	s := &Stack{
		log: log, lock: held, logFile: logFile, parts: newSequence(log),
		Programs: map[identity.Name]map[string]string{}, Cells: map[string]map[identity.Name]map[string]string{},
	}
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
	w = w.withCells()
	for _, cell := range w.all() {
		if err := s.migrate(ctx, cell); err != nil {
			return err
		}
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
	if err := s.startCells(ctx, w); err != nil {
		return err
	}
	return s.announce(w, demo, time.Since(began))
}

func (s *Stack) startDependencies(ctx context.Context, w *wiring) error {
	cfg := w.Config
	servers, err := deps.Start(ctx,
		deps.PostgreSQLConfig{
			URL: cfg.PostgresURL, Dir: filepath.Join(cfg.Dir, "postgres"), Port: cfg.PortBase + postgresPort, Log: s.log,
			LogicalReplication: len(cfg.Cells) > 0,
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
	if err == nil && len(cfg.Cells) > 0 {
		err = w.databases.requireReplication(ctx)
	}
	return err
}

// environments are those of the programs of a cell.
func (s *Stack) environments(w wiring) map[identity.Name]map[string]string {
	if w.letter == "" {
		return s.Programs
	}
	if s.Cells[w.letter] == nil {
		s.Cells[w.letter] = map[identity.Name]map[string]string{}
	}
	return s.Cells[w.letter]
}

// migrate creates the databases of a cell and brings them up to date, one after another.
func (s *Stack) migrate(ctx context.Context, w wiring) error {
	if err := w.databases.create(ctx); err != nil {
		return err
	}
	for _, p := range w.databases.programs {
		env, err := w.environment(p)
		if err != nil {
			return err
		}
		s.environments(w)[p.Name] = env
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
			return fmt.Errorf("%s: %w", w.name(p), err)
		}
	}
	return nil
}

// startCells starts the programs of further cells and tells the tenants service about them.
func (s *Stack) startCells(ctx context.Context, w wiring) error {
	for _, cell := range w.cells {
		if err := s.startPrograms(ctx, cell, func(p programs.Program) bool { return p.Name.InCells() }); err != nil {
			return err
		}
		if err := cell.register(ctx); err != nil {
			return fmt.Errorf("register cell %s: %w", cell.letter, err)
		}
	}
	return nil
}

// register adds the cell, or replaces its addresses.
func (w wiring) register(ctx context.Context) error {
	tenants := w.certificates.dial(identity.Tenants, w.addr(programs.Named(identity.Tenants).Port))
	defer func() { _ = tenants.Close() }()
	address := func(name identity.Name) string { return w.address(programs.Named(name), programs.Named(name).Port) }
	_, err := tenantsv1.NewCellOperationsServiceClient(tenants).PutCell(ctx, &tenantsv1.PutCellRequest{
		Actor: seed.Installer, Open: true,
		Cell: &tenantsv1.Cell{
			Letter: w.letter, CatalogAddr: address(identity.Catalog), OrdersAddr: address(identity.Orders),
			PersonalLinksAddr: address(identity.PersonalLinks), EventsAddr: address(identity.Events), WebhookAddr: address(identity.Webhook),
		},
	})
	return err
}

func (s *Stack) startProgram(ctx context.Context, w wiring, p programs.Program) error {
	metrics := w.address(p, p.Port+programs.MetricsOffset)
	for _, offset := range []int{p.Port, p.GRPCPort, p.Port + programs.MetricsOffset} {
		if err := deps.RequireFree(ctx, w.name(p), w.PortBase+w.firstPort+offset); err != nil {
			return err
		}
	}
	// The program outlives the start, so what it opens must not end with ctx.
	living := context.WithoutCancel(ctx)
	tel, err := telemetry.New(living, string(p.Name), telemetry.Config{MetricsAddr: metrics}, s.logFile)
	if err != nil {
		return err
	}
	opened, err := p.Open(living, s.environments(w)[p.Name], tel)
	if err != nil {
		return err
	}
	run := func(ctx context.Context) error {
		defer tel.Close(ctx)
		return opened.Run(ctx)
	}
	return s.parts.start(ctx, daemon.Part{Name: w.name(p), Run: run}, answers("http://"+metrics+"/readyz"))
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
