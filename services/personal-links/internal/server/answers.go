package server

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Answers of this service hold claim URLs, with which anyone can claim a gift. So answers are stored sealed.
type (
	sealed       = wrapperspb.BytesValue
	sealedEffect = idempotency.Effect[*sealed]
)

// answerSealer seals and opens the answers to one API key.
type answerSealer struct {
	ring  *seal.Ring
	keyID int32
}

// answerAssociatedData binds a sealed answer to its column and to the API key that requested it.
func answerAssociatedData(keyID int32) string {
	return "idempotency_answers.answer/" + strconv.Itoa(int(keyID))
}

func (s answerSealer) seal(m proto.Message) (*sealed, error) {
	// Deterministic, so that a repetition gets the same bytes.
	plain, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return wrapperspb.Bytes(s.ring.Seal(plain, answerAssociatedData(s.keyID))), nil
}

func (s answerSealer) open(value *sealed, into proto.Message) error {
	plain, err := s.ring.Open(value.GetValue(), answerAssociatedData(s.keyID))
	if err != nil {
		return fmt.Errorf("open answer: %w", err)
	}
	if err := proto.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// eraseAnswers erases what the stored answers to the keys say about the persons of the links and about rejected recipients.
func (s *Server) eraseAnswers(ctx context.Context, keyIDs []int32, linkIDs, rejected []string) error {
	_, err := idempotency.RewriteOf(ctx, s.Store.Pool(), keyIDs, func(keyID int32, stored proto.Message) (changed bool, err error) {
		answer, ok := stored.(*sealed)
		if !ok {
			return false, nil
		}
		sealer := answerSealer{ring: s.Ring, keyID: keyID}
		plain, err := sealer.ring.Open(answer.GetValue(), answerAssociatedData(keyID))
		if err != nil {
			return false, fmt.Errorf("open answer: %w", err)
		}
		// Every answer has either one link or the results of a batch, but does not say which. Decoded as the wrong type, it has no
		// link with one of the ids and no rejected recipient.
		one, batch := &linksv1.CancelPersonalLinkResponse{}, &linksv1.CreatePersonalLinksResponse{}
		var erased *sealed
		if proto.Unmarshal(plain, one) == nil && eraseLink(one.GetLink(), linkIDs) {
			erased, err = sealer.seal(one)
		} else if proto.Unmarshal(plain, batch) == nil && eraseBatch(batch.GetResults(), linkIDs, rejected) {
			erased, err = sealer.seal(batch)
		}
		if err != nil || erased == nil {
			return false, err
		}
		answer.Value = erased.GetValue()
		return true, nil
	})
	return err
}

func eraseLink(link *linksv1.PersonalLink, ids []string) bool {
	return slices.Contains(ids, link.GetId()) && rules.EraseInAnswer(link)
}

func eraseBatch(results []*linksv1.PersonalLinkResult, ids, rejected []string) (changed bool) {
	for _, r := range results {
		// A single link, decoded as a batch, also looks like a result without a link.
		isRejected := r.GetOutcome() == linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_REJECTED
		if eraseLink(r.GetLink(), ids) || isRejected && slices.Contains(rejected, r.GetExternalRecipientId()) {
			r.ExternalRecipientId, changed = new(seal.Erased), true
		}
	}
	return changed
}

// maxPasses bounds the passes over the answers. A pass that re-encrypted something is followed by another.
const maxPasses = 5

// ReencryptAnswers seals the stored answers again with the first key of the ring while the service runs. After success, no stored
// answer needs another key.
func ReencryptAnswers(ctx context.Context, pool *pgxpool.Pool, ring *seal.Ring, out io.Writer) error {
	for range maxPasses {
		broken := 0
		n, err := idempotency.Rewrite(ctx, pool, func(keyID int32, stored proto.Message) (changed bool, err error) {
			answer, ok := stored.(*sealed)
			if !ok || !ring.Stale(answer.GetValue()) {
				return false, nil
			}
			plain, err := ring.Open(answer.GetValue(), answerAssociatedData(keyID))
			if err != nil {
				broken++
				return false, nil //nolint:nilerr // It is counted, and the others are sealed again first.
			}
			answer.Value = ring.Seal(plain, answerAssociatedData(keyID))
			return true, nil
		})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "re-encrypted %d stored responses\n", n) // Progress may be lost.
		switch {
		case n > 0: // Another pass.
		case broken > 0:
			return fmt.Errorf("%w: %d stored responses", seal.ErrBroken, broken)
		default:
			return nil
		}
	}
	return seal.ErrStillSealing
}

// SealedAnswers are the stored answers, for the check of the ring.
func SealedAnswers() seal.SealedValues { return idempotency.Sealed(answerAssociatedData) }
