package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// hidden replaces characters. Its length says nothing about how many.
const hidden = "•••"

// Masked returns enough of a recipient for a player to recognise the address, and too little for anybody else to use it.
func (r Recipient) Masked() *ordersv1.OrderRecipient {
	var name []string
	for _, word := range strings.Fields(r.Name) {
		name = append(name, beginning(word, 1))
	}
	email, postalCode := beginning(r.Email, 1), beginning(r.PostalCode, 2)
	return &ordersv1.OrderRecipient{
		Name: strings.Join(name, " "), Phone: hidden + r.Phone[max(0, len(r.Phone)-2):], Email: fields.Optional(&email),
		Address: &ordersv1.OrderAddress{
			Street: beginning(r.Street, 2), City: r.City, PostalCode: fields.Optional(&postalCode), Country: r.Country,
		},
	}
}

// beginning shows n characters of a text, but never more than half of it.
func beginning(text string, n int) string {
	if text == "" {
		return ""
	}
	return string([]rune(text)[:min(n, utf8.RuneCountInString(text)/2)]) + hidden
}
