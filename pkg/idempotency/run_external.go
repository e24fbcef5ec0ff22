package idempotency

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
)

// RunExternal is Run for an effect outside the database, such as a call to a stranger's server: act
// runs while the transaction holds the claim, so that two requests at once never act twice. act
// must end within the database's idle-in-transaction limit. A crash between act and commit leaves
// the key free.
func RunExternal[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, empty func() R, act func(ctx context.Context) (R, error),
) (R, error) {
	req, ok := FromContext(ctx)
	if !ok {
		return act(ctx)
	}
	if answer, found, err := replay(ctx, pool, req, empty); found || err != nil {
		return answer, err
	}
	answer, err := actHolding(ctx, pool, req, act)
	if err != nil {
		return unclaimed(ctx, pool, req, empty, err)
	}
	return answer, nil
}

func actHolding[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, req Request, act func(ctx context.Context) (R, error),
) (answer R, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, claim, req.KeyID, req.Key); err != nil {
			return err
		}
		answer, err = act(ctx)
		if err != nil {
			return err
		}
		raw, err := encodeAnswer(answer)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw)
		return err
	})
	return answer, err
}
