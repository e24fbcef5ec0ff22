package seal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Erased replaces an erased text.
const Erased = "[erased]"

// EraseEvent replaces what an event says about a person, in its data or its envelope: integrators' names for the person and the
// person's action, texts of messages, reasons, what a custom gift is called, the name of a client of the tenant, and the tracking
// of the parcel. Everything else stays byte for byte, so the feed's item and the body of a webhook stay equal. text without any
// of it is returned as it is.
func EraseEvent(text []byte) ([]byte, error) {
	out, err := eraseObject(text)
	if err != nil {
		return nil, fmt.Errorf("erase event: %w", err)
	}
	return out, nil
}

// eraseObject never looks into members that it does not name: those of variations have names that tenants choose.
func eraseObject(text []byte) ([]byte, error) {
	return eachValue(text, func(name string, value []byte) ([]byte, error) {
		switch {
		case bytes.Equal(value, []byte("null")):
			return value, nil
		case slices.Contains([]string{"externalRecipientId", "externalActionRef", "cancellationReason", string(MessageBody)}, name):
			return []byte(`"` + Erased + `"`), nil
		case name == "shipments":
			return []byte("[]"), nil
		case name == "items":
			return eachValue(value, func(_ string, item []byte) ([]byte, error) { return eraseIf(item, "CUSTOM", "productName") })
		case name == "author":
			return eraseIf(value, "TENANT_CLIENT", "name")
		case slices.Contains([]string{"data", "order", "message"}, name):
			return eraseObject(value)
		}
		return value, nil
	})
}

// eraseIf replaces a member of an object of the kind.
func eraseIf(text []byte, kind, member string) ([]byte, error) {
	var object struct{ Kind string }
	if err := json.Unmarshal(text, &object); err != nil || object.Kind != kind {
		return text, err
	}
	return eachValue(text, func(name string, value []byte) ([]byte, error) {
		if name == member {
			value = []byte(`"` + Erased + `"`)
		}
		return value, nil
	})
}

// eachValue replaces the values of an object or array. Elements of an array have no name.
func eachValue(text []byte, replace func(name string, value []byte) ([]byte, error)) (out []byte, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	begin, err := in.Token()
	if err != nil || begin != json.Delim('{') && begin != json.Delim('[') {
		return text, err
	}
	copied := int64(0)
	for in.More() {
		var name string
		if begin == json.Delim('{') {
			token, err := in.Token()
			if err != nil {
				return nil, err
			}
			name, _ = token.(string)
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, err
		}
		replaced, err := replace(name, value)
		if err != nil {
			return nil, err
		}
		end := in.InputOffset()
		out = append(append(out, text[copied:end-int64(len(value))]...), replaced...)
		copied = end
	}
	if _, err := in.Token(); err != nil {
		return nil, err
	}
	return append(out, text[copied:]...), nil
}
