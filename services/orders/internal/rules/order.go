// Package rules holds what is right for an order: pure functions of the request, the tenant's
// settings and the clock.
package rules

import (
	"time"

	"github.com/shopspring/decimal"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// NewOrder is an order about to be placed: the record every channel sees and what only those who
// fulfil it see.
type NewOrder struct {
	Record   *ordersv1.Order
	TenantID string
	Details  Details
	// Budget is set for a custom request.
	Budget    *Budget
	ManagerID string
	// PlacedByKeyID is 0 where no key placed the order.
	PlacedByKeyID  int32
	PlacedByKey    string
	AfterHours     bool
	BrandedPackage bool
	// Reserved says that a unit of campaign stock is held under the order's id.
	Reserved bool
	// Claimed says that the id was chosen by the caller: a claim that may have been abandoned, or a
	// person who may have chosen the id of another order.
	Claimed bool
}

// Budget of a custom request, in the tenant's currency.
type Budget struct {
	Amount   decimal.Decimal
	Currency string
}

// Details name and locate people, or hold free text that may. They live in one sealed column.
type Details struct {
	Client             Person         `json:"client"`
	Recipient          Recipient      `json:"recipient"`
	CourierComment     string         `json:"courierComment,omitempty"`
	AdditionalDetails  string         `json:"additionalDetails,omitempty"`
	Customization      string         `json:"customization,omitempty"`
	CustomFieldAnswers []CustomAnswer `json:"customFieldAnswers,omitempty"`
}

// Person is who the gift is for.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// Recipient is where the gift ships.
type Recipient struct {
	Name       string `json:"name"`
	Phone      string `json:"phone"` // E.164.
	Email      string `json:"email,omitempty"`
	Street     string `json:"street"`
	City       string `json:"city"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country"`
}

// CustomAnswer is the answer to one of the tenant's order fields.
type CustomAnswer struct {
	FieldID string  `json:"fieldId"`
	Text    *string `json:"text,omitempty"`
	Checked *bool   `json:"checked,omitempty"`
}

// FirstStatus is the status an order placed through the API starts in.
func FirstStatus(approvalRequired bool) ordersv1.OrderStatus {
	if approvalRequired {
		return ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	}
	return ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
}

// Now cuts a clock reading to what the API shows and the database keeps: whole microseconds, UTC.
func Now(clock func() time.Time) time.Time { return clock().UTC().Truncate(time.Microsecond) }
