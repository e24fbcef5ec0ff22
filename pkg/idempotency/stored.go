package idempotency

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/seal"
)

// Sealed are the stored answers of a service that seals them, each as a BytesValue, for the check of the ring. check returns why
// the ring does not open the answer of an API key.
func Sealed(check func(ctx context.Context, tx pgx.Tx, ring *seal.Ring, keyID int32, sealed []byte) error) seal.SealedValues {
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
			return func(ctx context.Context, tx pgx.Tx, ring *seal.Ring) error {
				if err != nil {
					return seal.ErrBroken
				}
				return check(ctx, tx, ring, keyID, answer.GetValue())
			}, nil
		},
	}
}
