package idempotency

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
)

// RunInTx is Commit for an operation that decides from rows it locks. read adds the statements that lock and read them. decide
// then chooses the effect from what their callbacks got. Claim, locks, effect and answer take one transaction of two round
// trips. Both functions may be called more than once. decide must not call another service, because it runs while the locks are
// held.
func RunInTx[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, read func(b *pgx.Batch), decide func() (Effect[R], error),
) (R, error) {
	req, keyed := FromContext(ctx)
	var effect Effect[R]
	var refusal *problem.Error // The problem that is stored as the answer.
	err := postgres.ReadThenWrite(ctx, pool, func(b *pgx.Batch) {
		if keyed {
			b.Queue(claim, req.KeyID, req.Key)
		}
		read(b)
	}, func() (write func(b *pgx.Batch), err error) {
		var raw []byte
		refusal = nil
		effect, err = decide()
		if p, isProblem := problem.As(err); isProblem && keyed && storable(p) {
			p.Instance, refusal, effect.Queue = req.ID, p, nil
			raw, err = encodeProblem(p)
		} else if err == nil && keyed {
			raw, err = encodeAnswer(effect.Answer)
		}
		return func(b *pgx.Batch) {
			if effect.Queue != nil {
				effect.Queue(b)
			}
			if keyed {
				queueAnswer(b, req, raw, effect.Record)
			}
		}, err
	})
	if err != nil {
		return outcome[R](ctx, pool, req, err, nil)
	}
	if refusal != nil {
		var none R
		return none, refusal
	}
	return effect.Answer, nil
}

// RunTx is Commit for an effect in a transaction that inTx begins and commits. inTx may call its function more than once. work
// has the effect in it, and returns the answer and what is stored of it: repetitions get only that, for example without a secret.
// work must not call another service. An error of work undoes the transaction.
func RunTx[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool,
	inTx func(ctx context.Context, work func(tx pgx.Tx) error) error, work func(tx pgx.Tx) (answer, stored R, err error),
) (answer R, err error) {
	req, keyed := FromContext(ctx)
	if keyed {
		if answer, found, err := replay[R](ctx, pool, req, nil); found || err != nil {
			return answer, err
		}
	}
	err = inTx(ctx, func(tx pgx.Tx) (err error) {
		var stored R
		if !keyed {
			answer, _, err = work(tx)
			return err
		}
		if _, err = tx.Exec(ctx, claim, req.KeyID, req.Key); err != nil {
			return err
		}
		if answer, stored, err = work(tx); err != nil {
			return err
		}
		raw, err := encodeAnswer(stored)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw, nil, nil)
		return err
	})
	if p, isProblem := problem.As(err); isProblem && keyed && storable(p) {
		err = storeRefusal(ctx, pool, req, p, Record{})
	}
	if err != nil {
		return outcome[R](ctx, pool, req, err, nil)
	}
	return answer, nil
}

const (
	limitIdle = `SELECT set_config('idle_in_transaction_session_timeout', $1, true)`
	// idleGrace is the time to store the answer of an act that took as long as it may.
	idleGrace = 5 * time.Second
)

// RunExternal is Commit for an effect outside the database, such as a call to a server of a tenant. act runs while the
// transaction holds the claim, so that two concurrent requests never both act. act must end within the given time, after which
// the database may end the transaction: its usual limit for idle ones does not apply. A crash between act and commit leaves the
// key free.
func RunExternal[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, within time.Duration, act func(ctx context.Context) (R, error),
) (answer R, err error) {
	req, keyed := FromContext(ctx)
	if !keyed {
		return act(ctx)
	}
	if answer, found, err := replay[R](ctx, pool, req, nil); found || err != nil {
		return answer, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(limitIdle, strconv.FormatInt((within+idleGrace).Milliseconds(), 10))
		b.Queue(claim, req.KeyID, req.Key)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		if answer, err = act(ctx); err != nil {
			return err
		}
		raw, err := encodeAnswer(answer)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw, nil, nil)
		return err
	})
	if err != nil {
		return outcome[R](ctx, pool, req, err, nil)
	}
	return answer, nil
}
