// Package restjson is the JSON codec of the REST API: it converts between protobuf messages, bodies and query parameters.
//
// # Writing
//
// Marshal and Marshaler write compact, valid UTF-8 JSON whose bytes depend on the message alone:
// members are in declaration order, map keys are sorted. So an event in the feed and the same event
// in a webhook are equal byte for byte.
//
//   - Every member is written, empty ones too. An unset optional field and an unset message are
//     null. The unset members of a oneof are left out.
//   - All integers are JSON numbers, 64-bit ones as well.
//   - An enum is the name of its value (package enumname). Number 0 and unknown numbers are null.
//   - google.protobuf.Timestamp is RFC 3339 in UTC with Z, cut to microseconds, without trailing
//     zeros.
//   - The field option raw_json writes bytes as they are. They must be one JSON value made by this
//     package; only their UTF-8 is checked. Empty bytes are null.
//   - The message option inline writes a message as the value of its only field, or of the member
//     of its only oneof.
//   - A nil message is null, also inside a list.
//
// # Reading
//
// Unmarshal and UnmarshalQuery report everything that is invalid as violations with the path of the field. Valid fields are set
// even when others are invalid. An invalid element of a list becomes an empty one, so that the indexes in later checks are
// right. A body that is not JSON has exactly one violation, without a path, and the message must then not be used.
//
//   - Unknown members are ignored, null means omitted, member names are exact. Duplicate names,
//     invalid UTF-8, more than 100 levels and anything after the body make the whole body invalid.
//   - Integers may be written in any form that is mathematically integral (1, 1.0, 1e2).
//   - The field option decimal accepts a string or a number and keeps its text, up to 64
//     characters. The service decides whether a string is a number.
//   - A string with U+0000 is invalid: PostgreSQL cannot store it.
//   - Fields with the option raw_json are never read. They count as unknown.
//
// A violation never repeats a value of the caller. Paths name map keys, cut to 64 characters.
//
// # Limits
//
// Well-known types other than Timestamp, unsigned and floating-point numbers, bytes that are not raw JSON, groups, and maps whose
// keys are not strings are not supported: every call on a message that contains one fails, whether or not it is set.
package restjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"
)

var (
	_ runtime.Marshaler            = Marshaler{}
	_ runtime.QueryParameterParser = QueryParser{}
)

// Marshaler makes grpc-gateway speak this package's JSON. It reads the body of a request only as a Body.
type Marshaler struct{}

// Body is a request body that takes what is found in it: grpc-gateway would turn an error of the decoder into a text.
type Body interface {
	io.Reader
	Bytes() []byte
	// Bound are the protobuf names of the fields that the path of the request binds.
	Bound() []string
	SetFindings(found Findings)
}

var errNoBody = errors.New("restjson: only the body of a request is read, into a message")

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

// Unmarshal implements runtime.Marshaler. grpc-gateway does not call it.
func (Marshaler) Unmarshal([]byte, any) error { return errNoBody }

// NewEncoder implements runtime.Marshaler.
func (Marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		return encode(v, func(written []byte) error {
			_, err := w.Write(written)
			return err
		})
	})
}

// NewDecoder implements runtime.Marshaler. The decoder reads a [Body] into a message: what is wrong in it are findings of the
// body and no error.
func (Marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		body, isBody := r.(Body)
		m, isMessage := v.(proto.Message)
		if !isBody || !isMessage {
			return errNoBody
		}
		body.SetFindings(UnmarshalBody(body.Bytes(), m, body.Bound()...))
		return nil
	})
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
