package caller

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	weak = "W/"
	// maxTags is far more than the versions of a record that a caller can have.
	maxTags = 100
)

// Condition is what If-Match or If-None-Match demands.
type Condition struct {
	// Any means the condition *, which every existing record meets.
	Any bool
	// Tags are entity tags with their quotes, weak ones with W/.
	Tags []string
}

// HasState reports whether the condition has a strong tag with the state (NewETag). A nil condition demands nothing and has every
// state.
func (c *Condition) HasState(state string) bool {
	if c == nil || c.Any {
		return true
	}
	for _, tag := range c.Tags {
		tagState, _, ok := strings.Cut(strings.TrimPrefix(tag, `"`), separator)
		if ok && tagState == state {
			return true
		}
	}
	return false
}

// HasWeakly reports whether the condition has the tag by weak comparison.
func (c *Condition) HasWeakly(tag string) bool {
	if c == nil {
		return false
	}
	for _, one := range c.Tags {
		if strings.TrimPrefix(one, weak) == tag {
			return true
		}
	}
	return c.Any
}

// ParseCondition reads the values of an If-Match or If-None-Match header. It returns nil without the header, and false if it is
// neither * nor a list of 1 to 100 entity tags.
func ParseCondition(values []string) (c *Condition, ok bool) {
	if len(values) == 0 {
		return nil, true
	}
	rest := strings.Trim(strings.Join(values, ","), blanks)
	if rest == "*" {
		return &Condition{Any: true}, true
	}
	c = &Condition{}
	for rest = skipEmpty(rest); rest != ""; rest = skipEmpty(rest) {
		var tag string
		if tag, rest = cutTag(rest); tag == "" || len(c.Tags) == maxTags {
			return nil, false
		}
		c.Tags = append(c.Tags, tag)
		rest = strings.TrimLeft(rest, blanks)
		if rest != "" && rest[0] != ',' {
			return nil, false
		}
	}
	return c, len(c.Tags) > 0
}

const blanks = " \t"

// skipEmpty removes empty elements from the beginning of a list.
func skipEmpty(list string) string { return strings.TrimLeft(list, ","+blanks) }

// cutTag returns the entity tag at the beginning and what follows it. The tag is empty if there is none. A comma may be part of it.
func cutTag(list string) (tag, rest string) {
	opaque := strings.TrimPrefix(list, weak)
	if !strings.HasPrefix(opaque, `"`) {
		return "", ""
	}
	end := strings.IndexByte(opaque[1:], '"')
	if end < 0 {
		return "", ""
	}
	for _, c := range []byte(opaque[1 : 1+end]) {
		if c <= ' ' || c == 0x7f {
			return "", ""
		}
	}
	size := len(list) - len(opaque) + end + len(`""`)
	return list[:size], list[size:]
}

const (
	// digestBytes makes collisions as good as impossible.
	digestBytes = 15
	separator   = "."
)

// NewETag makes the strong entity tag of a body (RFC 9110, sections 8.8.3 and 13.1): "state.representation". The representation is
// a digest of the body. The state names the version of an order; other resources have none. A service computes the state from the
// record alone. So it can decide on If-Match while the order is locked, although only the gateway knows the body.
func NewETag(state string, body []byte) string {
	tag := digest(body)
	if state != "" {
		tag = state + separator + tag
	}
	return `"` + tag + `"`
}

// OrderState is the state of an order. It depends on the time of the change too, because after a restore of the database another
// change may have the same version.
func OrderState(o *ordersv1.Order) string {
	state := []byte(o.GetId())
	state = binary.BigEndian.AppendUint64(state, uint64(o.GetVersion())) //nolint:gosec // The bits are hashed.
	at := o.GetUpdatedAt().AsTime().UnixMicro()
	return digest(binary.BigEndian.AppendUint64(state, uint64(at)))
}

func digest(of []byte) string {
	sum := sha256.Sum256(of)
	return base64.RawURLEncoding.EncodeToString(sum[:digestBytes])
}
