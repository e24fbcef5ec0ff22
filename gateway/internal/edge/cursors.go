package edge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
)

// Signatures says what the gateway does about the signatures of cursors. The states follow each other in an upgrade from a version
// without signatures: first all gateways must accept them, then those without have to run out.
type Signatures string

// The states.
const (
	// SignaturesOff makes cursors without a signature and accepts both.
	SignaturesOff Signatures = "off"
	// SignaturesOn signs cursors and accepts both.
	SignaturesOn Signatures = "on"
	// SignaturesRequired signs cursors and accepts no others.
	SignaturesRequired Signatures = "required"
)

// Cursors signs the cursors that leave the platform and checks those that come back, so that callers cannot make their own. Services
// know nothing of the signatures.
type Cursors struct {
	key    []byte
	policy Signatures
}

// NewCursors derives the key of the signatures from a secret.
func NewCursors(secret []byte, policy Signatures) Cursors {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("cursors"))
	return Cursors{key: mac.Sum(nil), policy: policy}
}

// separator is not in the alphabet of cursors.
const separator = "."

func (c Cursors) signature(cursor string) string {
	const size = 16
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(cursor))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:size])
}

// open removes the signature from the field after of a request. It returns a violation if the signature is wrong.
func (c Cursors) open(request proto.Message) []problem.Violation {
	message, field := textField(request, "after")
	if field == nil {
		return nil
	}
	cursor, signature, signed := strings.Cut(message.Get(field).String(), separator)
	valid := c.policy != SignaturesRequired
	if signed {
		// The text is compared, because several texts of base64 stand for the same bytes.
		valid = hmac.Equal([]byte(signature), []byte(c.signature(cursor)))
	}
	if !valid {
		message.Clear(field)
		return []problem.Violation{{Field: "after", Code: problem.FieldInvalid, Message: "is not a cursor of this list and these filters"}}
	}
	message.Set(field, protoreflect.ValueOfString(cursor))
	return nil
}

// sign adds the signature to the field next_cursor of an answer.
func (c Cursors) sign(answer proto.Message) {
	message, field := textField(answer, "next_cursor")
	if field == nil || c.policy == SignaturesOff {
		return
	}
	cursor := message.Get(field).String()
	message.Set(field, protoreflect.ValueOfString(cursor+separator+c.signature(cursor)))
}

// textField returns a field of text that the message has, or nil.
func textField(m proto.Message, name protoreflect.Name) (protoreflect.Message, protoreflect.FieldDescriptor) {
	message := m.ProtoReflect()
	field := message.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || !message.Has(field) {
		return message, nil
	}
	return message, field
}
