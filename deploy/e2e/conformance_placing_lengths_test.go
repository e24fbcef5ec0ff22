package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// promiseOfLength places an order whose member is as long as it may be, and is refused one character more.
func (s *shop) promiseOfLength(t *testing.T, path string, limit int, before ...change) {
	t.Helper()
	text := fresh
	if strings.HasSuffix(path, "mail") {
		text = address
	}
	s.place(t, append(before, with(path, text(limit)))...)
	s.refuse(t, s.body(t, append(before, with(path, text(limit+1)))...), strings.ReplaceAll(path, ".0", "[0]")+" too_long")
}

func (s *shop) promisesOfLengths(t *testing.T) {
	for _, field := range []struct {
		promise, path string
		limit         int
	}{
		{"externalOrderId has at most 128 characters", "externalOrderId", 128},
		{"externalRecipientId has at most 128 characters", "externalRecipientId", 128},
		{"externalCampaignRef is optional and has at most 128 characters", "externalCampaignRef", 128},
		{"externalActionRef is optional and has at most 128 characters", "externalActionRef", 128},
		{"courierComment has at most 500 characters", "courierComment", 500},
		{"additionalDetails has at most 2000 characters", "additionalDetails", 2000},
		{"the postal code has at most 20 characters in any format", "recipient.address.postalCode", 20},
	} {
		t.Run(field.promise, func(t *testing.T) {
			s.promiseOfLength(t, field.path, field.limit)
		})
	}
	t.Run("customization details have at most 2000 characters", func(t *testing.T) {
		gift := s.richGift(t)
		s.putProduct(t, gift)
		s.promiseOfLength(t, "customization.details", 2000,
			ofGift(gift.GetId(), map[string]any{"Size": "S", "Colour": "Red"}), with("customization", map[string]any{}))
	})
	t.Run("customProductName has at most 255 characters", func(t *testing.T) {
		s.promiseOfLength(t, "items.0.customProductName", 255, custom("1.00", "SEK"))
	})
	for _, field := range []struct {
		promise, path string
		limit         int
	}{
		{"the recipient's name is required and has at most 100 characters", "recipient.name", 100},
		{"the street is required and has at most 255 characters", "recipient.address.street", 255},
		{"the city is required and has at most 100 characters", "recipient.address.city", 100},
		{"client is required with a name of at most 255 characters", "client.name", 255},
	} {
		t.Run(field.promise, func(t *testing.T) {
			for _, change := range []change{without(field.path), with(field.path, "  "), with(field.path, nil)} {
				s.refuse(t, s.body(t, change), field.path+" required")
			}
			s.promiseOfLength(t, field.path, field.limit)
			if field.path == "client.name" {
				s.refuse(t, s.body(t, without("client")), "client required")
			}
		})
	}
	for _, field := range []struct{ promise, path string }{
		{"the client's e-mail is optional, well formed and of at most 255 characters", "client.email"},
		{"the recipient's e-mail is optional, well formed and of at most 255 characters", "recipient.email"},
	} {
		t.Run(field.promise, func(t *testing.T) {
			s.place(t, without(field.path))
			s.promiseOfLength(t, field.path, 255)
			s.refuse(t, s.body(t, with(field.path, "ann@")), field.path+" invalid")
		})
	}
}

// promisesOfRecipients is of where a gift goes.
func (s *shop) promisesOfRecipients(t *testing.T) {
	t.Run("the recipient's phone is required and has at most 50 characters", func(t *testing.T) {
		s.refuse(t, s.body(t, without("recipient.phone")), "recipient.phone required")
		s.place(t, with("recipient.phone", "+46 70 111 22 33"+strings.Repeat(" ", 34)))
		s.refuse(t, s.body(t, with("recipient.phone", "+46 70 111 22 33"+strings.Repeat("-", 35))), "recipient.phone too_long")
	})
	t.Run("the recipient's address is required", func(t *testing.T) {
		s.refuse(t, s.body(t, without("recipient.address")), "recipient.address required")
	})
	t.Run("a phone is a plus, a country code and digits", func(t *testing.T) {
		for _, phone := range []string{"+46701112233", "+46 (70) 111-22.33", "+353 85 012 3456", "+12025550123"} {
			s.place(t, with("recipient.phone", phone))
		}
	})
	t.Run("letters, no plus, no country code and a wrong length are invalid", func(t *testing.T) {
		for _, phone := range []string{"+46CALLME", "0701112233", "46701112233", "+0701112233", "+46", "+467011122334455667"} {
			s.refuse(t, s.body(t, with("recipient.phone", phone)), "recipient.phone invalid")
		}
	})
	t.Run("the country is required and an ISO 3166-1 alpha-2 code", func(t *testing.T) {
		s.refuse(t, s.body(t, without("recipient.address.country")), "recipient.address.country required")
		for _, country := range []string{"SWE", "se", "XX", "Sweden"} {
			s.refuse(t, s.body(t, with("recipient.address.country", country)), "recipient.address.country invalid")
		}
	})
	const postal = "SE NO DK FI IS DE FR NL BE AT CH ES IT PT PL GR CZ SK HU RO BG HR SI EE LT LV LU UA US CA MX BR GB IN JP SG CN KR AU NZ TH MY ID PH VN ZA TR IL"
	t.Run("the postal code is required in the countries that have one", func(t *testing.T) {
		for country := range strings.FieldsSeq(postal) {
			s.refuse(t, s.body(t, custom("1.00", "SEK"), with("recipient.address.country", country), without("recipient.address.postalCode")),
				"recipient.address.postalCode required")
		}
	})
	t.Run("the postal code is optional elsewhere, Ireland included", func(t *testing.T) {
		for _, country := range []string{"IE", "HK", "AE", "MT", "CL", "NG"} {
			require.NotContains(t, strings.Fields(postal), country)
			s.place(t, custom("1.00", "SEK"), with("recipient.address.country", country), without("recipient.address.postalCode"))
		}
	})
}
