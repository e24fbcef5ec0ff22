package notices

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	// channel is the notification channel of PostgreSQL.
	channel = "gifting_feed"

	idLen     = len(uuid.UUID{})
	noticeLen = idLen + idLen + 1 + 4
	// perPayload keeps a payload in Base64 below the 8000 bytes of a notification.
	perPayload = 150
)

var errPayload = errors.New("payload of a notification is malformed")

// encode makes the payloads of notifications: the sender, and the notices. A payload without notices means that some were missed.
func encode(sender uuid.UUID, list []Notice, missed bool) (payloads []string) {
	if missed {
		payloads = append(payloads, base64.RawStdEncoding.EncodeToString(sender[:]))
	}
	for some := range slices.Chunk(list, perPayload) {
		raw := append(make([]byte, 0, idLen+len(some)*noticeLen), sender[:]...)
		for _, n := range some {
			tenant, brand := uuid.MustParse(n.TenantID), uuid.MustParse(n.BrandID)      // The writer has checked them.
			raw = append(append(append(raw, tenant[:]...), brand[:]...), byte(n.Scope)) //nolint:gosec // There are few scopes.
			raw = binary.BigEndian.AppendUint32(raw, uint32(n.HiddenFrom))              //nolint:gosec // Read back as signed.
		}
		payloads = append(payloads, base64.RawStdEncoding.EncodeToString(raw))
	}
	return payloads
}

// decode returns no notices if some were missed.
func decode(payload string) (sender uuid.UUID, list []Notice, err error) {
	raw, err := base64.RawStdEncoding.DecodeString(payload)
	if err != nil || len(raw) < idLen || (len(raw)-idLen)%noticeLen != 0 {
		return sender, nil, fmt.Errorf("%w: %d bytes", errPayload, len(payload))
	}
	sender = uuid.UUID(raw[:idLen])
	for n := range slices.Chunk(raw[idLen:], noticeLen) {
		list = append(list, Notice{
			TenantID:   uuid.UUID(n[:idLen]).String(),
			BrandID:    uuid.UUID(n[idLen : 2*idLen]).String(),
			Scope:      commonv1.Scope(n[2*idLen]),
			HiddenFrom: int32(binary.BigEndian.Uint32(n[2*idLen+1:])), //nolint:gosec // Written from a signed value.
		})
	}
	return sender, list, nil
}
