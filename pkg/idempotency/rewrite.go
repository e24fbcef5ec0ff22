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
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
)

// rewriteBatch and rewriteBytes bound what is read at once. An answer to a batch of links may have megabytes.
const (
	rewriteBatch = 500
	rewriteBytes = 4 << 20
)

var (
	nextAnswers   = answersAfter("(key_id, idempotency_key) > ($1, $2)")
	nextAnswersOf = answersAfter("key_id = ANY($5) AND (key_id, idempotency_key) > ($1, $2)")
)

// answersAfter selects the next stored answers, at most $3, until they have $4 bytes. There is at least one, unless none is left.
func answersAfter(condition string) string {
	return `SELECT key_id, idempotency_key, answer FROM (
  SELECT key_id, idempotency_key, answer,
    sum(octet_length(answer)) OVER (ORDER BY key_id, idempotency_key) - octet_length(answer) AS bytes_before
  FROM (SELECT key_id, idempotency_key, answer FROM idempotency_answers
    WHERE ` + condition + ` AND answer IS NOT NULL ORDER BY key_id, idempotency_key LIMIT $3) page
) sized WHERE bytes_before < $4 ORDER BY key_id, idempotency_key`
}

const (
	sameAnswer    = `SELECT answer FROM idempotency_answers WHERE key_id = $1 AND idempotency_key = $2 AND answer IS NOT NULL`
	replaceAnswer = `UPDATE idempotency_answers SET answer = $4 WHERE key_id = $1 AND idempotency_key = $2 AND answer = $3`
)

// Change changes the answer to a request of an API key, and reports whether it has.
type Change func(keyID int32, answer proto.Message) (changed bool, err error)

type storedAnswer struct {
	KeyID  int32
	Key    string
	Answer []byte
}

// Rewrite lets change rewrite all stored answers while the service runs, and returns how many it has replaced. Stored problems say
// nothing about anyone and stay. What requests commit later is not rewritten.
func Rewrite(ctx context.Context, pool *pgxpool.Pool, change Change) (replaced int, err error) {
	return rewrite(ctx, pool, change, nextAnswers)
}

// RewriteOf is Rewrite for the answers to the API keys.
func RewriteOf(ctx context.Context, pool *pgxpool.Pool, keyIDs []int32, change Change) (replaced int, err error) {
	return rewrite(ctx, pool, change, nextAnswersOf, keyIDs)
}

func rewrite(ctx context.Context, pool *pgxpool.Pool, change Change, next string, of ...any) (replaced int, err error) {
	last := storedAnswer{}
	for {
		args := append([]any{last.KeyID, last.Key, rewriteBatch, rewriteBytes}, of...)
		found, err := postgres.Select(ctx, pool, "read stored answers", pgx.RowToStructByPos[storedAnswer], next, args...)
		if err != nil || len(found) == 0 {
			return replaced, err
		}
		for _, stored := range found {
			n, err := rewriteOne(ctx, pool, stored, change)
			if replaced += n; err != nil {
				return replaced, err
			}
		}
		last = found[len(found)-1]
	}
}

// rewriteOne changes the answer again if another rewrite comes first.
func rewriteOne(ctx context.Context, pool *pgxpool.Pool, stored storedAnswer, change Change) (replaced int, err error) {
	for {
		raw, err := changed(stored, change)
		if err != nil || raw == nil {
			return 0, err
		}
		replaced, err := postgres.Exec(ctx, pool, "replace stored answer", replaceAnswer, stored.KeyID, stored.Key, stored.Answer, raw)
		if err != nil || replaced > 0 {
			return replaced, err
		}
		err = pool.QueryRow(ctx, sameAnswer, stored.KeyID, stored.Key).Scan(&stored.Answer)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read stored answer: %w", err)
		}
	}
}

// changed returns what an answer is to become; nil: it stays.
func changed(stored storedAnswer, change Change) ([]byte, error) {
	var st spb.Status
	if err := proto.Unmarshal(stored.Answer, &st); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if codes.Code(st.GetCode()) != codes.OK || len(st.GetDetails()) != 1 { //nolint:gosec // The value was written from a codes.Code.
		return nil, nil
	}
	answer, err := st.GetDetails()[0].UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if changed, err := change(stored.KeyID, answer); err != nil || !changed {
		return nil, err
	}
	return encodeAnswer(answer)
}

// Sealed are the stored answers of a service that seals them, each as a BytesValue, for the check of the ring. associatedData is
// that of the answers to an API key.
func Sealed(associatedData func(keyID int32) string) seal.SealedValues {
	const key = "idempotency_answer_key(answer)"
	return seal.SealedValues{
		Table: "idempotency_answers", Column: "answer", Key: key, Where: key + " IS NOT NULL", Read: "key_id, answer",
		Scan: func(row pgx.CollectableRow) (seal.OpenValue, error) {
			var keyID int32
			var raw []byte
			if err := row.Scan(&keyID, &raw); err != nil {
				return nil, err
			}
			answer, err := decodeAnswer[*wrapperspb.BytesValue](raw)
			return func(_ context.Context, _ pgx.Tx, ring *seal.Ring) error {
				if err != nil {
					return seal.ErrBroken
				}
				return ring.Check(answer.GetValue(), associatedData(keyID))
			}, nil
		},
	}
}
