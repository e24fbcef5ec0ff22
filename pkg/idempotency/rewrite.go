package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	rewriteBatch = 500

	nextAnswers = `SELECT key_id, idempotency_key, answer FROM idempotency_answers
WHERE (key_id, idempotency_key) > ($1, $2) AND answer IS NOT NULL ORDER BY key_id, idempotency_key LIMIT $3`
	replaceAnswer = `UPDATE idempotency_answers SET answer = $4 WHERE key_id = $1 AND idempotency_key = $2 AND answer = $3`
)

type storedAnswer struct {
	KeyID  int32
	Key    string
	Answer []byte
}

// Rewrite replaces stored answers of type R, such as sealed ones, while the service runs, and returns how many. change gets each
// answer with the id of the API key that asked for it, and returns its
// replacement, or false to keep it. Stored problems stay as they are.
func Rewrite[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, change func(keyID int32, answer R) (replacement R, changed bool),
) (replaced int, err error) {
	last := storedAnswer{}
	for {
		rows, _ := pool.Query(ctx, nextAnswers, last.KeyID, last.Key, rewriteBatch)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[storedAnswer])
		if err != nil {
			return replaced, fmt.Errorf("read stored answers: %w", err)
		}
		for _, stored := range found {
			n, err := rewriteOne(ctx, pool, stored, change)
			if err != nil {
				return replaced, err
			}
			replaced += n
		}
		if len(found) < rewriteBatch {
			return replaced, nil
		}
		last = found[len(found)-1]
	}
}

func rewriteOne[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, stored storedAnswer, change func(keyID int32, answer R) (R, bool),
) (int, error) {
	answer, err := decodeAnswer[R](stored.Answer)
	if _, isProblem := problem.As(err); isProblem {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	replacement, changed := change(stored.KeyID, answer)
	if !changed {
		return 0, nil
	}
	raw, err := encodeAnswer(replacement)
	if err != nil {
		return 0, err
	}
	tag, err := pool.Exec(ctx, replaceAnswer, stored.KeyID, stored.Key, stored.Answer, raw)
	if err != nil {
		return 0, fmt.Errorf("replace stored answer: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
