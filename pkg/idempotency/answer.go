package idempotency

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

// deterministic, so that equal answers are equal bytes in the table.
var deterministic = proto.MarshalOptions{Deterministic: true}

func encodeAnswer(m proto.Message) ([]byte, error) {
	packed := &anypb.Any{}
	if err := anypb.MarshalFrom(packed, m, deterministic); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	raw, err := deterministic.Marshal(&spb.Status{Details: []*anypb.Any{packed}})
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return raw, nil
}

func encodeProblem(e *problem.Error) ([]byte, error) {
	raw, err := deterministic.Marshal(e.Status().Proto())
	if err != nil {
		return nil, fmt.Errorf("encode problem: %w", err)
	}
	return raw, nil
}

// decodeAnswer returns the stored answer, or the stored problem as the error.
func decodeAnswer[R proto.Message](raw []byte) (none R, _ error) {
	var st spb.Status
	if err := proto.Unmarshal(raw, &st); err != nil {
		return none, fmt.Errorf("decode answer: %w", err)
	}
	if codes.Code(st.GetCode()) != codes.OK { //nolint:gosec // The value was written from a codes.Code.
		return none, problem.FromStatus(status.FromProto(&st))
	}
	if len(st.GetDetails()) != 1 {
		return none, fmt.Errorf("decode answer: %d details", len(st.GetDetails()))
	}
	answer := none.ProtoReflect().New().Interface().(R)
	if err := st.GetDetails()[0].UnmarshalTo(answer); err != nil {
		return none, fmt.Errorf("decode answer: %w", err)
	}
	return answer, nil
}

// storable reports whether the problem is the final answer of the operation, which is stored so that repetitions get it too. After
// any other error the key may be used again.
func storable(e *problem.Error) bool {
	switch e.Code {
	case problem.IdempotencyInProgress, problem.IdempotencyKeyReused:
		return false
	default:
		s := problem.Lookup(e.Code).Status
		return s == http.StatusConflict || s == http.StatusUnprocessableEntity
	}
}

// Request names one POST of one API key.
type Request struct {
	KeyID       int32
	Key         string
	Fingerprint []byte
	// OtherFingerprints are only compared: a stored answer may have one of them.
	OtherFingerprints [][]byte
	// ID is the id of this HTTP request. A stored problem keeps it as its instance.
	ID string
}

// FromContext returns the request of a call that came through the edge with an Idempotency-Key, and false for every other call.
func FromContext(ctx context.Context) (Request, bool) {
	r := caller.RequestFrom(ctx)
	p, err := caller.PrincipalFrom(ctx)
	if err != nil || r.IdempotencyKey == "" {
		return Request{}, false
	}
	return Request{
		KeyID: p.KeyID, Key: r.IdempotencyKey, Fingerprint: r.Fingerprint, OtherFingerprints: r.OtherFingerprints, ID: r.ID,
	}, true
}

// matches reports whether the stored fingerprint is of this request, by any key of the gateway's key ring.
func (r Request) matches(stored []byte) bool {
	same := func(fingerprint []byte) bool { return subtle.ConstantTimeCompare(stored, fingerprint) == 1 }
	return same(r.Fingerprint) || slices.ContainsFunc(r.OtherFingerprints, same)
}

// ReservationKey names the request in other services, so that a reservation made before a crash is found again.
func (r Request) ReservationKey() []byte {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, r.KeyID)
	h.Write([]byte(r.Key))
	return h.Sum(nil)
}
