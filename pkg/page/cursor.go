package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Errors of a cursor. ErrForeignCursor wraps ErrCursor: the cursor was made for another list, tenant or filters.
var (
	ErrCursor        = errors.New("cursor is not one of this list")
	ErrForeignCursor = fmt.Errorf("%w: it belongs to another", ErrCursor)
)

const (
	cursorVersion = 1
	digestLen     = 8
	headerLen     = 1 + digestLen
)

// Binding is a digest of what the opaque cursor of a paged list belongs to (API specification, section Endpoints): list, tenant,
// sort order and filters, in a fixed order. Decode refuses the cursor of another one. It is no signature: callers can forge
// cursors.
type Binding [digestLen]byte

// Bind digests the parts: the name of the list, the tenant and every filter, absent ones too.
func Bind(parts ...string) Binding {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint32(len(p))) //nolint:gosec // Parts are bounded request fields.
		h.Write([]byte(p))
	}
	return Binding(h.Sum(nil))
}

// BindRequest digests the name of the list, the tenant and every filter of a request: all its fields but those of the page and of
// the caller. Filters that mean the same must be written the same.
func BindRequest(list, tenantID string, req proto.Message) Binding {
	filters := proto.Clone(req)
	m := filters.ProtoReflect()
	for _, name := range []protoreflect.Name{"after", "limit", "actor"} {
		if field := m.Descriptor().Fields().ByName(name); field != nil {
			m.Clear(field)
		}
	}
	// It fails for a text that is not UTF-8. No record has that, so there is no cursor to bind.
	raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(filters)
	return Bind(list, tenantID, string(raw))
}

// Encode makes the cursor of a position.
func (b Binding) Encode(position []byte) string {
	raw := make([]byte, 0, headerLen+len(position))
	raw = append(raw, cursorVersion)
	raw = append(raw, b[:]...)
	return base64.RawURLEncoding.EncodeToString(append(raw, position...))
}

// Decode returns the position.
func (b Binding) Decode(cursor string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// The standard decoder ignores line breaks, even in strict mode.
	if err != nil || strings.ContainsAny(cursor, "\r\n") || len(raw) < headerLen || raw[0] != cursorVersion {
		return nil, ErrCursor
	}
	if !bytes.Equal(raw[1:headerLen], b[:]) {
		return nil, ErrForeignCursor
	}
	return raw[headerLen:], nil
}

// Position is a place in a list sorted by a time and then an id.
type Position struct {
	// Time in whole microseconds.
	Time time.Time
	ID   string
}

const (
	positionLen = 8 + 16
	maxYear     = 9999
)

// EncodePosition makes the cursor of p.
func (b Binding) EncodePosition(p Position) string {
	raw := make([]byte, 0, positionLen)
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.Time.UnixMicro()))
	id := uuid.MustParse(p.ID)
	return b.Encode(append(raw, id[:]...))
}

// DecodePosition returns what EncodePosition was given.
func (b Binding) DecodePosition(cursor string) (Position, error) {
	raw, err := b.Decode(cursor)
	if err != nil {
		return Position{}, err
	}
	if len(raw) != positionLen {
		return Position{}, ErrCursor
	}
	micros := int64(binary.BigEndian.Uint64(raw)) //nolint:gosec // Written from a signed value.
	at := time.UnixMicro(micros).UTC()
	if at.Year() < 1 || at.Year() > maxYear {
		return Position{}, ErrCursor // A forged cursor: no database stores this time.
	}
	return Position{Time: at, ID: uuid.UUID(raw[8:]).String()}, nil
}
