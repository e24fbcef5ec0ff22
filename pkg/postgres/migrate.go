package postgres

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/partnergifting/platform/pkg/settings"
)

// Migrations is the schema of one owner: a service, or a package whose tables several services
// need. Each owner numbers its files for itself.
type Migrations struct {
	// Owner names the table that records which files ran: migrations_<owner>.
	Owner string
	// Files holds the SQL files at its root.
	Files fs.FS
}

// Embedded is the schema in the folder migrations of an embedded file system.
func Embedded(owner string, files embed.FS) Migrations {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // The folder is embedded, so this fails only in a broken build.
	}
	return Migrations{Owner: owner, Files: sub}
}

const (
	// lockAttempts is how often a migration is tried that waits too long for a lock, or that ends a deadlock. Between two attempts,
	// the statements that waited behind it run.
	lockAttempts = 10
	// An instance looks every lockProbeSeconds, at most maxLockProbes times, whether another one has finished migrating.
	lockProbeSeconds, maxLockProbes = 1, 300
)

// Migrate brings the database up to date, owner by owner in the order given, and writes what it does to out. Several instances may
// call it: an advisory lock lets one run at a time. A migration waits for locks at most for Config.LockTimeout, because other
// statements wait behind it, and is then tried again, also after a deadlock. Those without a transaction build indexes concurrently
// and wait as long as it takes.
func Migrate(ctx context.Context, cfg Config, out io.Writer, owners ...Migrations) error {
	if err := settings.Defaults(&cfg); err != nil {
		return err
	}
	conn, err := Connect(ctx, cfg.URL)
	if err != nil {
		return fmt.Errorf("reach database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, m := range owners {
		if err := m.up(ctx, cfg, conn, out); err != nil {
			return fmt.Errorf("migrate %s: %w", m.Owner, m.explain(ctx, conn, err))
		}
	}
	return nil
}

func (m Migrations) table() string { return "migrations_" + m.Owner }

// up runs what is pending, one migration after the other.
func (m Migrations) up(ctx context.Context, cfg Config, conn *pgx.Conn, out io.Writer) error {
	before, err := m.progress(ctx, conn)
	if err != nil {
		return err
	}
	if len(before.pending) == 0 {
		_, err := fmt.Fprintf(out, "%s: nothing to do at version %d\n", m.Owner, before.version)
		return err
	}
	for _, file := range before.pending {
		if err := m.apply(ctx, cfg, file, out); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	after, err := m.progress(ctx, conn)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: from version %d to %d\n", m.Owner, before.version, after.version)
	return err
}

// errLocked ends a migration that never got its locks.
var errLocked = errors.New("another transaction holds a lock that it needs; " +
	"`SELECT * FROM pg_stat_activity WHERE state <> 'idle'` shows them, " +
	"GIFTING_DATABASE_LOCK_TIMEOUT is how long one attempt waits")

// apply runs one migration, unless another instance has done so, and tries again if a lock is not free.
func (m Migrations) apply(ctx context.Context, cfg Config, file string, out io.Writer) error {
	content, err := fs.ReadFile(m.Files, file)
	if err != nil {
		return err
	}
	inTransaction := !bytes.Contains(content, noTransaction)
	provider, closeDB, err := m.provider(cfg, inTransaction)
	if err != nil {
		return err
	}
	defer closeDB()
	version, err := goose.NumericComponent(file)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		reason := fmt.Sprintf("waited %s for a lock", cfg.LockTimeout)
		result, err := provider.ApplyVersion(ctx, version, true)
		switch {
		case errors.Is(err, goose.ErrAlreadyApplied):
			_, err = fmt.Fprintf(out, "%s: %s was applied by another instance\n", m.Owner, file)
			return err
		case err == nil:
			_, err = fmt.Fprintf(out, "%s: %s took %s\n", m.Owner, file, result.Duration.Round(time.Millisecond))
			return err
		case State(err) == stateDeadlockDetected && inTransaction: // Otherwise a part of it may have been committed.
			reason = "was ended because of a deadlock"
		case State(err) != stateLockNotAvailable:
			return err
		}
		if attempt == lockAttempts {
			return fmt.Errorf("%w: %w", errLocked, err)
		}
		if _, err := fmt.Fprintf(out, "%s: %s %s; attempt %d of %d follows\n",
			m.Owner, file, reason, attempt+1, lockAttempts); err != nil {
			return err
		}
		select {
		case <-time.After(cfg.LockTimeout):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// noTransaction marks a file for goose.
var noTransaction = []byte("-- +goose NO TRANSACTION")

// provider returns what runs the files.
func (m Migrations) provider(cfg Config, inTransaction bool) (provider *goose.Provider, closeDB func(), err error) {
	pc, err := connConfig(cfg.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("database url: %w", err)
	}
	if inTransaction {
		pc.RuntimeParams["lock_timeout"] = fmt.Sprint(cfg.LockTimeout.Milliseconds())
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockProbeSeconds, maxLockProbes))
	if err != nil {
		return nil, nil, fmt.Errorf("migration lock: %w", err)
	}
	db := stdlib.OpenDB(*pc)
	provider, err = goose.NewProvider(goose.DialectPostgres, db, m.Files,
		goose.WithSessionLocker(locker), goose.WithTableName(m.table()))
	if err != nil {
		_ = db.Close()
		return nil, nil, fmt.Errorf("read files: %w", err)
	}
	return provider, func() { _ = db.Close() }, nil
}

// Difference between a database and the migrations of a program.
type Difference struct {
	// Pending are the migrations that have not run, as owner/file.
	Pending []string
	// Ahead are the versions that only a later program knows, as owner/version. This program works with them too.
	Ahead []string
}

// Compare compares the database with the migrations and changes nothing.
func Compare(ctx context.Context, url string, owners ...Migrations) (Difference, error) {
	conn, err := Connect(ctx, url)
	if err != nil {
		return Difference{}, fmt.Errorf("reach database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var d Difference
	for _, m := range owners {
		found, err := m.progress(ctx, conn)
		if err != nil {
			return Difference{}, fmt.Errorf("migrations of %s: %w", m.Owner, m.explain(ctx, conn, err))
		}
		for _, file := range found.pending {
			d.Pending = append(d.Pending, m.Owner+"/"+file)
		}
		for _, version := range found.ahead {
			d.Ahead = append(d.Ahead, fmt.Sprintf("%s/%d", m.Owner, version))
		}
	}
	return d, nil
}

// progress is how far a database has come with the migrations of one owner.
type progress struct {
	version int64
	pending []string
	ahead   []int64
}

func (m Migrations) progress(ctx context.Context, conn *pgx.Conn) (progress, error) {
	applied, err := m.applied(ctx, conn)
	if err != nil {
		return progress{}, err
	}
	files, err := m.versions()
	if err != nil {
		return progress{}, err
	}
	p := progress{version: slices.Max(append(applied, 0))}
	for _, f := range files {
		if !slices.Contains(applied, f.version) {
			p.pending = append(p.pending, f.name)
		}
	}
	for _, version := range applied {
		// Goose itself records version 0.
		if version != 0 && !slices.ContainsFunc(files, func(f file) bool { return f.version == version }) {
			p.ahead = append(p.ahead, version)
		}
	}
	return p, nil
}

// file is a migration.
type file struct {
	name    string
	version int64
}

// versions lists the files in their order.
func (m Migrations) versions() ([]file, error) {
	names, err := fs.Glob(m.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	files := make([]file, 0, len(names))
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, version: version})
	}
	return files, nil
}

// applied reads goose's table of applied versions. The first migration creates it.
func (m Migrations) applied(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", m.table()).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := conn.Query(ctx, "SELECT version_id FROM "+pgx.Identifier{m.table()}.Sanitize()+" WHERE is_applied ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// errPermission is a missing permission, with what to do about it.
var errPermission = errors.New("the login lacks a permission")

// explain adds to a missing permission which role the migration needs: the one that owns the tables, or the database if there
// are none yet.
func (m Migrations) explain(ctx context.Context, conn *pgx.Conn, err error) error {
	if State(err) != stateInsufficientPrivilege {
		return err
	}
	var login, role, owner string
	found := conn.QueryRow(ctx, `SELECT session_user, current_user,
		coalesce((SELECT tableowner FROM pg_tables WHERE tablename = $1 AND schemaname = ANY (current_schemas(false)) LIMIT 1),
			(SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()))`,
		m.table()).Scan(&login, &role, &owner)
	if found != nil || role == owner { // An owner lacks something else, which the error of the migration names.
		return err
	}
	return fmt.Errorf("%w: %w; the login %q acts as %q, but this needs the role %q, which owns the tables: "+
		"use its login, or `GRANT` the role to this one and `ALTER ROLE … SET role`", errPermission, err, login, role, owner)
}
