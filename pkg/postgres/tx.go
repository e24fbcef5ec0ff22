package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Querier is what a pool, a connection and a transaction have in common.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

const (
	maxAttempts  = 5
	firstBackoff = 5 * time.Millisecond
	// rollbackTimeout bounds the wait for a server that does not answer.
	rollbackTimeout = time.Second
)

// InTx runs work in a transaction and commits it. A serialization failure or deadlock runs work
// again, so work has no effect outside the transaction.
func InTx(ctx context.Context, pool *pgxpool.Pool, work func(tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, pgx.TxOptions{}, work)
}

// InTxWith is InTx with the options of the transaction.
func InTxWith(ctx context.Context, pool *pgxpool.Pool, opts pgx.TxOptions, work func(tx pgx.Tx) error) error {
	return retry(ctx, func() error {
		return pgx.BeginTxFunc(ctx, pool, opts, work)
	})
}

// Pipeline runs the statements that queue adds as one transaction in one round trip with BEGIN and COMMIT. If the server
// refuses one, none has an effect. Callbacks of the statements run after the COMMIT, so their errors undo nothing. queue is
// called again for each attempt.
func Pipeline(ctx context.Context, pool *pgxpool.Pool, queue func(b *pgx.Batch)) error {
	return retry(ctx, func() error {
		b := &pgx.Batch{}
		b.Queue("BEGIN")
		queue(b)
		b.Queue("COMMIT")
		return sendTx(ctx, pool, b)
	})
}

func sendTx(ctx context.Context, pool *pgxpool.Pool, b *pgx.Batch) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("acquire connection: %w", err)
	}
	defer conn.Release()
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		// A failed pipeline leaves the connection in the aborted transaction; without a rollback the pool would close it.
		rollback(ctx, conn)
		return err
	}
	return nil
}

func retry(ctx context.Context, attempt func() error) error {
	backoff := firstBackoff
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || !Retryable(err) || n == maxAttempts {
			return err
		}
		pause := backoff + rand.N(backoff) //nolint:gosec // Spreads retries; nobody gains by guessing it.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		backoff *= 2
	}
}

// ReadThenWrite runs a transaction in two round trips. The first has BEGIN and the statements of read, whose callbacks take the
// rows. decide then returns the statements to write, which go with COMMIT in the second. decide must not call other services,
// because it runs while the rows are locked. An error of decide or of a callback undoes everything. Each attempt calls both
// again.
func ReadThenWrite(
	ctx context.Context, pool *pgxpool.Pool, read func(b *pgx.Batch), decide func() (write func(b *pgx.Batch), err error),
) error {
	return retry(ctx, func() error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return fmt.Errorf("acquire connection: %w", err)
		}
		defer conn.Release()
		if err := readThenWrite(ctx, conn, read, decide); err != nil {
			rollback(ctx, conn)
			return err
		}
		return nil
	})
}

func readThenWrite(
	ctx context.Context, conn *pgxpool.Conn, read func(b *pgx.Batch), decide func() (write func(b *pgx.Batch), err error),
) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	read(b)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	write, err := decide()
	if err != nil {
		return err
	}
	b = &pgx.Batch{}
	if write != nil {
		write(b)
	}
	b.Queue("COMMIT")
	return conn.SendBatch(ctx, b).Close()
}

// rollback ends a transaction that failed, so that the pool keeps the connection.
func rollback(ctx context.Context, conn *pgxpool.Conn) {
	const idle = 'I'
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == idle {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = conn.Conn().Close(ctx)
	}
}
