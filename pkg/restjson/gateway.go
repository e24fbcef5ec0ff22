package restjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
)

var (
	_ runtime.Marshaler            = Marshaler{}
	_ runtime.QueryParameterParser = QueryParser{}
)

// Marshaler makes grpc-gateway speak this package's JSON.
//
// grpc-gateway turns an error of the decoder into a text. To keep the violations, the request body (the reader of NewDecoder)
// may be a Body: it gets the findings and Decode succeeds. Otherwise Decode returns a *DecodeError.
type Marshaler struct{}

// Body is a request body that takes what is found in it.
type Body interface {
	io.Reader
	// Bound are the protobuf names of the fields that the path of the request binds.
	Bound() []string
	SetFindings(found Findings)
}

// ContentType implements runtime.Marshaler.
func (Marshaler) ContentType(any) string { return "application/json" }

// Marshal implements runtime.Marshaler for messages and lists of messages. A nil list is [].
func (Marshaler) Marshal(v any) (out []byte, err error) {
	err = encode(v, func(written []byte) error {
		out = bytes.Clone(written)
		return nil
	})
	return out, err
}

// Unmarshal implements runtime.Marshaler for messages.
func (Marshaler) Unmarshal(data []byte, v any) error {
	m, err := messageIn(v)
	if err != nil {
		return err
	}
	if found := Unmarshal(data, m); len(found) > 0 {
		return &DecodeError{Violations: found}
	}
	return nil
}

// NewEncoder implements runtime.Marshaler.
func (Marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		return encode(v, func(written []byte) error {
			_, err := w.Write(written)
			return err
		})
	})
}

// NewDecoder implements runtime.Marshaler. The decoder reads r to its end; an empty body is no error.
func (Marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		m, err := messageIn(v)
		if err != nil {
			return err
		}
		spare := takeBuffer()
		defer releaseBuffer(spare)
		if _, err := spare.ReadFrom(r); err != nil {
			return fmt.Errorf("restjson: read the body: %w", err)
		}
		if body, ok := r.(Body); ok {
			body.SetFindings(UnmarshalBody(spare.Bytes(), m, body.Bound()...))
			return nil
		}
		return Marshaler{}.Unmarshal(spare.Bytes(), m)
	})
}

func messageIn(v any) (proto.Message, error) {
	if m, ok := v.(proto.Message); ok && m.ProtoReflect().IsValid() {
		return m, nil
	}
	return nil, errors.New("restjson: a request body is only read into a message")
}

// DecodeError holds the violations of a body that cannot take them itself.
type DecodeError struct{ Violations []problem.Violation }

func (e *DecodeError) Error() string {
	var b strings.Builder
	b.WriteString("invalid JSON body")
	for i, v := range e.Violations {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + strings.TrimSpace(v.Field+" "+v.Message))
	}
	return b.String()
}

// QueryParser makes grpc-gateway read query parameters as UnmarshalQuery does. It sets the valid ones
// and reports nothing: the caller of UnmarshalQuery reports the violations.
type QueryParser struct{}

// Parse implements runtime.QueryParameterParser; filter holds the fields that the path binds.
func (QueryParser) Parse(m proto.Message, values url.Values, filter *utilities.DoubleArray) error {
	if len(values) == 0 {
		return nil
	}
	if _, err := planOf(m.ProtoReflect().Type()); err != nil {
		return fmt.Errorf("restjson: %w", err)
	}
	unmarshalQuery(values, m, func(name string) bool {
		return filter != nil && filter.HasCommonPrefix([]string{name})
	})
	return nil
}
