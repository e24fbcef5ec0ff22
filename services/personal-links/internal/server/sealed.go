package server

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/seal"
)

// Answers of this service hold claim URLs, which let their holder claim a gift. So the answer is stored
// sealed and opened for the caller only.
type (
	sealed       = wrapperspb.BytesValue
	sealedEffect = idempotency.Effect[*sealed]
)

// answers seals and opens the answers of one tenant.
type answers struct {
	ring     *seal.Ring
	tenantID string
}

func (a answers) associatedData() string { return "idempotency_answers.answer/" + a.tenantID }

func (a answers) seal(m proto.Message) (*sealed, error) {
	// Deterministic, so that a repetition gets the very same bytes.
	plain, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return wrapperspb.Bytes(a.ring.Seal(plain, a.associatedData())), nil
}

func (a answers) open(s *sealed, into proto.Message) error {
	plain, err := a.ring.Open(s.GetValue(), a.associatedData())
	if err != nil {
		return fmt.Errorf("open answer: %w", err)
	}
	if err := proto.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}
