package idempotency

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
)

// RunExternal is Run for an effect outside the database, such as a call to a server of a tenant. act runs while the
// transaction holds the claim, so that two concurrent requests never both act. act must end within the database's
// idle-in-transaction limit. A crash between act and commit leaves the key free.
func RunExternal[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, act func(ctx context.Context) (R, error),
) (answer R, err error) {
	req, keyed := FromContext(ctx)
	if !keyed {
		return act(ctx)
	}
	if answer, found, err := replay[R](ctx, pool, req); found || err != nil {
		return answer, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, claim, req.KeyID, req.Key); err != nil {
			return err
		}
		if answer, err = act(ctx); err != nil {
			return err
		}
		raw, err := encodeAnswer(answer)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw)
		return err
	})
	if err != nil {
		return outcome[R](ctx, pool, req, err)
	}
	return answer, nil
}
