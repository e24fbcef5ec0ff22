// Package rules contains the decisions of webhook delivery, without any I/O: which keys receive a change,
// how a request is signed, what a response means and when to try again (API specification, sections
// Events, Webhook delivery and Signature).
package rules

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Receives reports whether the endpoint receives the change: its key has the scope of the type and access to
// the brand, and the change was not made by the key's own request.
func Receives(e *tenantsv1.EndpointSubscription, c *eventsv1.Change) bool {
	return e.GetKeyId() != c.GetOriginKeyId() && Sees(e, c.GetType(), c.GetBrandId())
}

// Grants are the scopes and brands of a key.
type Grants interface {
	GetScopes() []commonv1.Scope
	GetAllBrands() bool
	GetBrandIds() []string
}

// Sees reports whether a key may see events of the type and the brand.
func Sees(g Grants, eventType, brandID string) bool {
	scope := ScopeOf(eventType)
	if scope == commonv1.Scope_SCOPE_UNSPECIFIED || !slices.Contains(g.GetScopes(), scope) {
		return false
	}
	return g.GetAllBrands() || slices.Contains(g.GetBrandIds(), brandID)
}

// ScopeOf is the scope that an event type requires. No key receives a type with an unknown prefix, so a new kind of record is
// never shown to a key without permission.
func ScopeOf(eventType string) commonv1.Scope {
	family, _, _ := strings.Cut(eventType, ".")
	switch family {
	case "order":
		return commonv1.Scope_SCOPE_ORDERS
	case "personal_link":
		return commonv1.Scope_SCOPE_PERSONAL_LINKS
	default:
		return commonv1.Scope_SCOPE_UNSPECIFIED
	}
}

// TypesOf are the types of the events that keys with the scopes may see; nil for all.
func TypesOf(scopes []commonv1.Scope) []string {
	visible := slices.DeleteFunc(slices.Clone(EventTypes), func(t string) bool { return !slices.Contains(scopes, ScopeOf(t)) })
	if len(visible) == len(EventTypes) {
		return nil
	}
	return visible
}

// Signature is the value of the Service-Signature header: the time of this attempt and the HMAC over that time and the
// body. The key of the HMAC is the text of the secret, not the bytes that its hex digits encode. After a rotation there are two
// secrets and two v1. The new secret is the last: a receiver that reads only the last v1 sees what it would see without an overlap.
func Signature(secrets []string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	header := "t=" + t
	for _, secret := range secrets {
		header += ",v1=" + hex.EncodeToString(sign(secret, t, body))
	}
	return header
}

// StandardSignature is the value of the Webhook-Signature header of the Standard Webhooks convention, for
// receivers that use one of its libraries. Their secret is the base64 of the same text. Signatures are separated by spaces.
func StandardSignature(secrets []string, id string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(sign(secret, id+"."+t, body))
	}
	return strings.Join(signatures, " ")
}

func sign(secret, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(prefix))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}
