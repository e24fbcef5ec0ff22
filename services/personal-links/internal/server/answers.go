package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
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

// eraseAnswers erases what the stored answers to the keys of a tenant say about the persons of the links and about recipients who
// were rejected.
func (s *Server) eraseAnswers(ctx context.Context, tenantID string, keyIDs []int32, linkIDs, rejected []string) error {
	a := answers{ring: s.ring, tenantID: tenantID}
	return idempotency.EraseIn(ctx, s.store.Pool(), keyIDs, func(stored proto.Message) (changed bool, err error) {
		answer, ok := stored.(*sealed)
		if !ok {
			return false, nil
		}
		plain, err := a.ring.Open(answer.GetValue(), a.associatedData())
		if err != nil {
			return false, fmt.Errorf("open answer: %w", err)
		}
		// An answer does not say which of the two it is. Read as the other, it has no link with one of the ids.
		one, batch := &linksv1.CancelPersonalLinkResponse{}, &linksv1.CreatePersonalLinksResponse{}
		var erased *sealed
		if proto.Unmarshal(plain, one) == nil && eraseLink(one.GetLink(), linkIDs) {
			erased, err = a.seal(one)
		} else if proto.Unmarshal(plain, batch) == nil && eraseBatch(batch.GetResults(), linkIDs, rejected) {
			erased, err = a.seal(batch)
		}
		if err != nil || erased == nil {
			return false, err
		}
		answer.Value = erased.GetValue()
		return true, nil
	})
}

func eraseLink(link *linksv1.PersonalLink, ids []string) bool {
	if link.GetExternalRecipientId() == "" || !slices.Contains(ids, link.GetId()) {
		return false
	}
	link.ExternalRecipientId = new(seal.Erased)
	return true
}

func eraseBatch(results []*linksv1.PersonalLinkResult, ids, rejected []string) (changed bool) {
	for _, r := range results {
		if eraseLink(r.GetLink(), ids) || r.GetLink() == nil && slices.Contains(rejected, r.GetExternalRecipientId()) {
			r.ExternalRecipientId, changed = new(seal.Erased), true
		}
	}
	return changed
}

// answerPasses bounds how often the answers are read again because a pass found something to do.
const answerPasses = 5

// ReencryptAnswers seals the stored answers again with the first key of the ring while the service runs. After success none
// needs another key.
func ReencryptAnswers(ctx context.Context, pool *pgxpool.Pool, ring *seal.Ring, out io.Writer) error {
	tenants, err := store.Tenants(ctx, pool)
	if err != nil {
		return err
	}
	r := &reencryption{ring: ring, owners: newOwners(tenants)}
	for range answerPasses {
		r.broken = 0
		n, err := idempotency.Rewrite(ctx, pool, r.replace)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "re-encrypted %d stored responses\n", n) // Only progress.
		switch {
		case n > 0:
		case r.broken > 0:
			return fmt.Errorf("%w: %d stored responses", seal.ErrBroken, r.broken)
		default:
			return nil
		}
	}
	return seal.ErrNeverDone
}

type reencryption struct {
	ring   *seal.Ring
	owners *owners
	broken int
}

func (r *reencryption) replace(keyID int32, old *sealed) (*sealed, bool) {
	if !r.ring.Stale(old.GetValue()) {
		return nil, false
	}
	plain, associated, err := r.owners.open(r.ring, keyID, old.GetValue())
	if err != nil {
		r.broken++
		return nil, false
	}
	return wrapperspb.Bytes(r.ring.Seal(plain, associated)), true
}

// SealedAnswers are the stored answers, for the check of the ring.
func SealedAnswers() seal.SealedValues {
	known := newOwners(nil)
	return idempotency.Sealed(func(ctx context.Context, tx pgx.Tx, ring *seal.Ring, keyID int32, sealed []byte) error {
		_, _, err := known.open(ring, keyID, sealed)
		if !errors.Is(err, seal.ErrBroken) {
			return err
		}
		// Of a tenant that is not known yet.
		if known.tenants, err = store.Tenants(ctx, tx); err != nil {
			return err
		}
		_, _, err = known.open(ring, keyID, sealed)
		return err
	})
}

// owners finds the tenant that an answer was sealed for, because its row has only the API key. A key has one tenant.
type owners struct {
	tenants []string
	of      map[int32]string
}

func newOwners(tenants []string) *owners { return &owners{tenants: tenants, of: map[int32]string{}} }

// open returns the answer and its associated data. It fails with seal.ErrNoKey, or with seal.ErrBroken if it opens for no tenant.
func (o *owners) open(ring *seal.Ring, keyID int32, sealed []byte) (plain []byte, associated string, err error) {
	candidates := o.tenants
	if known, ok := o.of[keyID]; ok {
		candidates = []string{known}
	}
	if err := ring.Check(sealed, ""); errors.Is(err, seal.ErrNoKey) {
		return nil, "", err
	}
	for _, tenantID := range candidates {
		associated = answers{tenantID: tenantID}.associatedData()
		if ring.Check(sealed, associated) == nil {
			o.of[keyID] = tenantID
			plain, err = ring.Open(sealed, associated)
			return plain, associated, err
		}
	}
	return nil, "", seal.ErrBroken
}
