package rules

import (
	"slices"
	"strings"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Receives says whether the endpoint receives the change: its key has the scope of the type and access to
// the brand, and the change was not made by the key's own request.
func Receives(e *tenantsv1.EndpointSubscription, c *eventsv1.Change) bool {
	if e.GetKeyId() == c.GetOriginKeyId() {
		return false
	}
	scope := scopeOf(c.GetType())
	if scope == commonv1.Scope_SCOPE_UNSPECIFIED || !slices.Contains(e.GetScopes(), scope) {
		return false
	}
	return e.GetAllBrands() || slices.Contains(e.GetBrandIds(), c.GetBrandId())
}

// scopeOf is the scope that an event type requires. No key receives a type of an unknown family, so a new
// kind of record is never shown to a key without permission.
func scopeOf(eventType string) commonv1.Scope {
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
