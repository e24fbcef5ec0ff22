package edge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
)

// Cursors signs the cursors that leave the platform and checks those that come back, so that callers cannot make their own.
// Services know nothing of the signatures.
type Cursors struct {
	// keys are at least one. The first signs, and all are accepted.
	keys [][]byte
}

// NewCursors derives the keys of the signatures from a ring of at least one secret.
func NewCursors(secrets ...[]byte) Cursors {
	var c Cursors
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte("cursors"))
		c.keys = append(c.keys, mac.Sum(nil))
	}
	return c
}

// separator is not in the alphabet of cursors.
const separator = "."

func signature(key []byte, cursor string) string {
	const size = 16
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(cursor))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:size])
}

// open removes the signature from the field "after" of a request. It returns a violation if the signature is wrong or missing.
func (c Cursors) open(request proto.Message) []problem.Violation {
	message, field := textField(request, "after")
	if field == nil {
		return nil
	}
	cursor, signed, _ := strings.Cut(message.Get(field).String(), separator)
	// The text is compared, because several texts of base64 stand for the same bytes.
	valid := slices.ContainsFunc(c.keys, func(key []byte) bool {
		return hmac.Equal([]byte(signed), []byte(signature(key, cursor)))
	})
	if !valid {
		message.Clear(field)
		return []problem.Violation{
			{Field: "after", Code: problem.FieldInvalid, Message: "is not a cursor of this list and these filters"},
		}
	}
	message.Set(field, protoreflect.ValueOfString(cursor))
	return nil
}

// sign adds the signature to the field "next_cursor" of an answer.
func (c Cursors) sign(answer proto.Message) {
	message, field := textField(answer, "next_cursor")
	if field == nil {
		return
	}
	cursor := message.Get(field).String()
	message.Set(field, protoreflect.ValueOfString(cursor+separator+signature(c.keys[0], cursor)))
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
