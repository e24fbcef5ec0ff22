package idempotency

import (
	"fmt"
	"net/http"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

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

// storable says whether the problem is an outcome of the operation, which a repetition gets again.
// After any other error the key stays free.
func storable(e *problem.Error) bool {
	switch e.Code {
	case problem.IdempotencyInProgress, problem.IdempotencyKeyReused:
		return false
	default:
		s := problem.Lookup(e.Code).Status
		return s == http.StatusConflict || s == http.StatusUnprocessableEntity
	}
}
