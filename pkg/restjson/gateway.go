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
