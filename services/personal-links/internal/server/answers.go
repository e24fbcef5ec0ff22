package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Answers of this service hold claim URLs, with which anyone can claim a gift. So answers are stored sealed.
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
	// Deterministic, so that a repetition gets the same bytes.
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

// answerPasses bounds how often the answers are read again because a pass found something to do.
const answerPasses = 5

// ReencryptAnswers seals the stored answers again with the first key of the store's ring while the service runs. After success none
// needs another key.
func ReencryptAnswers(ctx context.Context, links *store.Store, ring *seal.Ring, out io.Writer) error {
	tenants, err := links.Tenants(ctx)
	if err != nil {
		return err
	}
	r := &answersRing{ring: ring, tenants: tenants, tenantOf: map[int32]string{}}
	for range answerPasses {
		r.broken = 0
		n, err := idempotency.Rewrite(ctx, links.Pool(), r.reencrypt)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "re-encrypted %d stored responses\n", n) // Only progress.
		switch {
		case n > 0:
		case r.broken > 0:
			return fmt.Errorf("%w: %d stored responses", reencrypt.ErrBroken, r.broken)
		default:
			return nil
		}
	}
	return reencrypt.ErrNeverDone
}

// answersRing finds the tenant that an answer was sealed for, because its row has only the API key. A key has one tenant.
type answersRing struct {
	ring     *seal.Ring
	tenants  []string
	tenantOf map[int32]string
	broken   int
}

func (r *answersRing) reencrypt(keyID int32, old *sealed) (*sealed, bool) {
	if !r.ring.Stale(old.GetValue()) {
		return nil, false
	}
	candidates := r.tenants
	if known, ok := r.tenantOf[keyID]; ok {
		candidates = []string{known}
	}
	for _, tenantID := range candidates {
		a := answers{ring: r.ring, tenantID: tenantID}
		plain, err := r.ring.Open(old.GetValue(), a.associatedData())
		if errors.Is(err, seal.ErrNoKey) {
			break
		}
		if err == nil {
			r.tenantOf[keyID] = tenantID
			return wrapperspb.Bytes(r.ring.Seal(plain, a.associatedData())), true
		}
	}
	r.broken++
	return nil, false
}
