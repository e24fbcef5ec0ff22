package idempotency

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	rewriteBatch = 500

	nextAnswers = `SELECT key_id, idempotency_key, answer FROM idempotency_answers
WHERE (key_id, idempotency_key) > ($1, $2) AND answer IS NOT NULL ORDER BY key_id, idempotency_key LIMIT $3`
	nextAnswersOf = `SELECT key_id, idempotency_key, answer FROM idempotency_answers
WHERE key_id = ANY($4) AND (key_id, idempotency_key) > ($1, $2) AND answer IS NOT NULL ORDER BY key_id, idempotency_key LIMIT $3`
	sameAnswer    = `SELECT answer FROM idempotency_answers WHERE key_id = $1 AND idempotency_key = $2 AND answer IS NOT NULL`
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
	err = eachAnswer(ctx, pool, nextAnswers, nil, func(stored storedAnswer) error {
		n, err := rewriteOne(ctx, pool, stored, change)
		replaced += n
		return err
	})
	return replaced, err
}

// EraseIn lets change erase in the answers to the API keys what they say about a person, while the service runs. change reports
// whether it has changed an answer. Stored problems say nothing about anyone. Requests that commit later must not say it either.
func EraseIn(
	ctx context.Context, pool *pgxpool.Pool, keyIDs []int32, change func(answer proto.Message) (changed bool, err error),
) error {
	return eachAnswer(ctx, pool, nextAnswersOf, []any{keyIDs}, func(stored storedAnswer) error {
		for {
			raw, err := erased(stored.Answer, change)
			if err != nil || raw == nil {
				return err
			}
			if replaced, err := replace(ctx, pool, stored, raw); err != nil || replaced > 0 {
				return err
			}
			// Another erasure or a re-encryption came first.
			err = pool.QueryRow(ctx, sameAnswer, stored.KeyID, stored.Key).Scan(&stored.Answer)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read stored answer: %w", err)
			}
		}
	})
}

// erased returns what an answer is to become; nil: it stays.
func erased(stored []byte, change func(answer proto.Message) (changed bool, err error)) ([]byte, error) {
	var st spb.Status
	if err := proto.Unmarshal(stored, &st); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if codes.Code(st.GetCode()) != codes.OK || len(st.GetDetails()) != 1 { //nolint:gosec // The value was written from a codes.Code.
		return nil, nil
	}
	answer, err := st.GetDetails()[0].UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if changed, err := change(answer); err != nil || !changed {
		return nil, err
	}
	return encodeAnswer(answer)
}

func eachAnswer(ctx context.Context, pool *pgxpool.Pool, next string, of []any, do func(stored storedAnswer) error) error {
	last := storedAnswer{}
	for {
		rows, _ := pool.Query(ctx, next, append([]any{last.KeyID, last.Key, rewriteBatch}, of...)...)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[storedAnswer])
		if err != nil {
			return fmt.Errorf("read stored answers: %w", err)
		}
		for _, stored := range found {
			if err := do(stored); err != nil {
				return err
			}
		}
		if len(found) < rewriteBatch {
			return nil
		}
		last = found[len(found)-1]
	}
}

func replace(ctx context.Context, pool *pgxpool.Pool, stored storedAnswer, by []byte) (int, error) {
	tag, err := pool.Exec(ctx, replaceAnswer, stored.KeyID, stored.Key, stored.Answer, by)
	if err != nil {
		return 0, fmt.Errorf("replace stored answer: %w", err)
	}
	return int(tag.RowsAffected()), nil
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
	return replace(ctx, pool, stored, raw)
}
