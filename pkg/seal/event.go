package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Member is the name of a member of events that must not lie in plain text on its way: the claimUrl of a personal link, with which
// anyone can claim the gift, and the body of a message.
//
// The writers seal a member when they build the event. In outboxes, Kafka, the feed's table and stored deliveries it is an object
// in place of its JSON text, {"$sealed":"base64"}. The feed and the webhook sender open it when an event leaves the platform, byte
// for byte. Events without sealed members pass unchanged. The associated data bind a sealed value to its tenant, event and member.
type Member string

// The members that are sealed. No other member of an event that has them has the same name.
const (
	ClaimURL    Member = "claimUrl"
	MessageBody Member = "body"
)

// EventRef names the event to which sealed members belong. It is part of their associated data.
type EventRef struct {
	TenantID string
	EventID  string
}

func (r EventRef) associatedData(m Member) string {
	return "events/" + strings.ToLower(r.TenantID) + "/" + strings.ToLower(r.EventID) + "/" + string(m)
}

var (
	// opening and closing enclose the sealed value. In valid JSON without spaces between tokens the opening is never part of a
	// string, because quotes in strings are escaped.
	opening = []byte(`{"$sealed":"`)
	closing = []byte(`"}`)

	encoding = base64.RawStdEncoding

	errNoMember = errors.New("the event does not have the member to seal as a string")
)

// sealMember replaces the JSON text of a member by its sealed form.
func sealMember(ring *Ring, ref EventRef, data []byte, m Member) ([]byte, error) {
	before, value, after, ok := findMember(data, m)
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoMember, m)
	}
	sealed := ring.Seal(value, ref.associatedData(m))
	out := make([]byte, 0, len(data)+len(opening)+len(closing)+encoding.EncodedLen(len(sealed)))
	out = append(append(out, before...), opening...)
	out = encoding.AppendEncode(out, sealed)
	return append(append(out, closing...), after...), nil
}

// findMember splits data around the JSON string that is the member's value. A colon never follows a string that is not a name.
func findMember(data []byte, m Member) (before, value, after []byte, ok bool) {
	name := []byte(`"` + string(m) + `":`)
	i := bytes.Index(data, name)
	if i < 0 {
		return nil, nil, nil, false
	}
	begin := i + len(name)
	if begin >= len(data) || data[begin] != '"' {
		return nil, nil, nil, false
	}
	for end := begin + 1; end < len(data); end++ {
		switch data[end] {
		case '\\':
			end++
		case '"':
			return data[:begin], data[begin : end+1], data[end+1:], true
		}
	}
	return nil, nil, nil, false
}

// openMembers puts back the JSON texts of sealed members. text without any is returned as it is.
func openMembers(ring *Ring, ref EventRef, text []byte) ([]byte, error) {
	var out []byte
	for {
		i := bytes.Index(text, opening)
		if i < 0 {
			break
		}
		m, sealed := memberBefore(text[:i])
		begin := i + len(opening)
		if !sealed { // A name that a tenant has chosen, such as that of a variation.
			out, text = append(out, text[:begin]...), text[begin:]
			continue
		}
		n := bytes.Index(text[begin:], closing)
		if n < 0 {
			return nil, ErrBroken
		}
		plain, err := openMember(ring, ref.associatedData(m), text[begin:begin+n])
		if err != nil {
			return nil, err
		}
		out = append(append(out, text[:i]...), plain...)
		text = text[begin+n+len(closing):]
	}
	if out == nil {
		return text, nil
	}
	return append(out, text...), nil
}

// memberBefore is the member whose value follows text.
func memberBefore(text []byte) (Member, bool) {
	for _, m := range []Member{ClaimURL, MessageBody} {
		if bytes.HasSuffix(text, []byte(`"`+string(m)+`":`)) {
			return m, true
		}
	}
	return "", false
}

func openMember(ring *Ring, associated string, encoded []byte) ([]byte, error) {
	sealed, err := encoding.AppendDecode(nil, encoded)
	if err != nil {
		return nil, ErrBroken
	}
	if ring == nil {
		return nil, ErrNoKey
	}
	return ring.Open(sealed, associated)
}
