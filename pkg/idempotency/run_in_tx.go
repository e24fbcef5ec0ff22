package idempotency

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
)

// RunInTx is Run for an operation that decides from rows it locks: read adds the statements that
// lock and read them to the transaction of the effect, and decide works out the effect from what
// their callbacks got. Claim, locks, effect and stored answer take two round trips. Both may be
// called more than once; decide calls nobody, because the locks are held meanwhile.
func RunInTx[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, empty func() R, read func(b *pgx.Batch), decide func() (Effect[R], error),
) (answer R, err error) {
	l := locked[R]{decide: decide}
	l.req, l.claims = FromContext(ctx)
	err = postgres.ReadThenWrite(ctx, pool, func(b *pgx.Batch) {
		if l.claims {
			b.Queue(claim, l.req.KeyID, l.req.Key)
		}
		read(b)
	}, l.write)
	if err = l.effect.translate(err); err != nil {
		return unclaimed(ctx, pool, l.req, empty, err)
	}
	if l.refusal != nil {
		return answer, l.refusal
	}
	return l.effect.Answer, nil
}

// locked is one run of RunInTx.
type locked[R proto.Message] struct {
	req    Request
	claims bool
	decide func() (Effect[R], error)
	effect Effect[R]
	// refusal is the problem that is stored as the answer.
	refusal *problem.Error
}

// write decides, and gives the statements of the effect with its answer, or those that store the
// problem which is the answer.
func (l *locked[R]) write() (func(b *pgx.Batch), error) {
	l.refusal = nil
	var err error
	var raw []byte
	if l.effect, err = l.decide(); err != nil {
		p, ok := problem.As(err)
		if !ok || !l.claims || !storable(p) {
			return nil, err
		}
		p.Instance, l.refusal = l.req.ID, p
		raw, err = encodeProblem(p)
	} else if l.claims {
		raw, err = encodeAnswer(l.effect.Answer)
	}
	if err != nil {
		return nil, err
	}
	return func(b *pgx.Batch) { l.queue(b, raw) }, nil
}

func (l *locked[R]) queue(b *pgx.Batch, raw []byte) {
	if l.refusal == nil && l.effect.Queue != nil {
		l.effect.Queue(b)
	}
	if l.claims {
		b.Queue(insertAnswer, l.req.KeyID, l.req.Key, l.req.Fingerprint, raw)
	}
}
