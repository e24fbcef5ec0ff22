package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ReadThenWrite runs a transaction in two round trips: BEGIN travels with the statements read adds,
// whose callbacks take what they got; decide then works out what to write, and that travels with
// COMMIT. What read locked is held while decide runs, so decide calls nobody. An error of decide, or
// of a callback, undoes everything. Each attempt calls both again.
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
