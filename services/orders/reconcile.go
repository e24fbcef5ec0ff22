package orders

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/orders/internal/reconcile"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// reconcileShort describes the command in the list of commands.
const reconcileShort = "compare the orders with stock, links and feed after a restore; reconcile -h explains how"

const reconcileHelp = `usage: orders reconcile [flags]

Compares the orders with the stock that catalog holds, with the claimed personal links, and with the
events in the feed. Messages on orders and their events are not compared. Without --repair it changes
nothing. It is safe while the platform runs.

With --repair it repairs what has one right outcome, and says what is left for a person. It may be
stopped and run again at any time. It repairs nothing if so much differs that a database may be empty or
the wrong one: more than 1000 differences of a kind that are more than 5 % of what was compared, more
than 500 that are half of it, or one side has nothing at all. With --all it does.

The report goes to the standard output, and a log line for each repair to the standard error. The exit
code is 0 if no difference is left, 3 if there are some, and 1 after a failure.

`

// reconcileStatementTimeout bounds the few statements that read the whole table of orders.
const reconcileStatementTimeout = 5 * time.Minute

// reconcileLock is the advisory lock of the process that repairs.
const reconcileLock = 0x67696674_7265636f

var (
	errReconcileAddrs = errors.New("set GIFTING_PERSONAL_LINKS_ADDR and GIFTING_EVENTS_ADDR")
	errReconciling    = errors.New("another process is repairing")
	errArguments      = errors.New("takes only flags")
	errPageRate       = errors.New("--pages-per-second must be between 1 and 1000")
)

// DifferencesError says how many differences are left. It is not a failure.
type DifferencesError int

// Error implements error.
func (e DifferencesError) Error() string { return fmt.Sprintf("%d differences are left", int(e)) }

// ExitCode implements daemon.ExitCoder.
func (DifferencesError) ExitCode() int { return 3 }

// Reconcile runs the command reconcile. It returns a DifferencesError if differences are left.
func Reconcile(ctx context.Context, cfg Config, args []string, out, errOut io.Writer) error {
	run, asJSON := reconcile.Config{Terminal: daemon.OnTerminal(errOut)}, false
	set := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	set.SetOutput(errOut)
	set.BoolVar(&run.Repair, "repair", false, "repair what has one right outcome")
	set.BoolVar(&run.All, "all", false, "with --repair: also if so much differs that a database may be the wrong one")
	set.BoolVar(&asJSON, "json", false, "write the whole report as JSON")
	set.IntVar(&run.PagesPerSecond, "pages-per-second", 50, "how many pages are read in a second, of 2,000 to 10,000 rows each")
	set.Func("from", "compare the feed from this time on, such as 2026-11-20T12:00:00Z; default: all that the feed keeps",
		func(text string) (err error) {
			run.From, err = time.Parse(time.RFC3339, text)
			return err
		})
	set.Usage = func() {
		_, _ = fmt.Fprint(errOut, reconcileHelp)
		set.PrintDefaults()
	}
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case set.NArg() > 0:
		return errArguments
	case run.PagesPerSecond < 1 || run.PagesPerSecond > 1000:
		return errPageRate
	case cfg.PersonalLinksAddr == "" || cfg.EventsAddr == "":
		return errReconcileAddrs
	}
	report, err := reconcileWith(ctx, cfg, run, slog.New(slog.NewJSONHandler(errOut, nil)))
	if report == nil {
		return err
	}
	write := report.WriteTable
	if asJSON {
		write = report.WriteJSON
	}
	if err := errors.Join(err, write(out)); err != nil {
		return err
	}
	if left := report.Left(); left > 0 {
		return DifferencesError(left)
	}
	return nil
}

func reconcileWith(ctx context.Context, cfg Config, run reconcile.Config, log *slog.Logger) (report *reconcile.Report, err error) {
	cfg.Database.StatementTimeout = reconcileStatementTimeout
	pool, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if run.Repair {
		unlock, err := lockRepairs(ctx, pool)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	conns := map[identity.Name]*grpc.ClientConn{}
	for service, addr := range map[identity.Name]string{
		identity.Catalog: cfg.CatalogAddr, identity.PersonalLinks: cfg.PersonalLinksAddr, identity.Events: cfg.EventsAddr,
	} {
		conn, err := rpc.Dial(rpc.Target{Service: service, Addr: addr, TLS: cfg.RPC.TLS}, telemetry.Discard())
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		conns[service] = conn
	}
	// No sealed column is read, and no event of a message is written.
	orders, catalog := store.New(pool, nil, nil), catalogv1.NewOrderingServiceClient(conns[identity.Catalog])
	return reconcile.Run(ctx, reconcile.Deps{
		Store: orders, Reservations: reservations.New(reservations.Deps{Store: orders, Catalog: catalog, Log: log}), Catalog: catalog,
		Links: linksv1.NewClaimRecordsServiceClient(conns[identity.PersonalLinks]),
		Feed:  eventsv1.NewFeedRecordsServiceClient(conns[identity.Events]), Log: log,
	}, run)
}

// lockRepairs keeps a second process from repairing meanwhile: it could record an event twice.
func lockRepairs(ctx context.Context, pool *pgxpool.Pool) (unlock func(), err error) {
	// A connection of its own, because the pool may have only one. The lock is that of an open transaction: behind a transaction
	// pooler, a lock of the session could be left to another client.
	cfg := pool.Config().ConnConfig
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("lock repairs: %w", err)
	}
	unlock = func() {
		ctx := context.WithoutCancel(ctx)
		// Closing the connection releases the lock too, but not before the server has noticed.
		_, _ = conn.Exec(ctx, "ROLLBACK")
		_ = conn.Close(ctx)
	}
	var locked bool
	if _, err = conn.Exec(ctx, "BEGIN"); err == nil {
		err = conn.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(reconcileLock)).Scan(&locked)
	}
	if err == nil && !locked {
		err = errReconciling
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}
