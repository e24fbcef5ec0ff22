package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testLength places an order whose member is as long as it may be, and is refused one character more.
func (f *fixture) testLength(t *testing.T, path string, limit int, before ...change) {
	t.Helper()
	text := freshText
	if strings.HasSuffix(path, "mail") {
		text = address
	}
	f.place(t, append(before, with(path, text(limit)))...)
	f.invalid(t, strings.ReplaceAll(path, ".0", "[0]")+" too_long", append(before, with(path, text(limit+1)))...)
}

func (f *fixture) testLengths(t *testing.T) {
	type field struct {
		id, path string
		limit    int
	}
	for _, field := range []field{
		{"PLA-6", "externalOrderId", 128},
		{"PLA-10", "externalRecipientId", 128},
		{"PLA-12", "externalCampaignRef", 128},
		{"PLA-13", "externalActionRef", 128},
		{"PLA-23", "courierComment", 500},
		{"PLA-24", "additionalDetails", 2000},
		{"PLA-50", "recipient.address.postalCode", 20},
	} {
		requirement(t, field.id, func(t *testing.T) { f.testLength(t, field.path, field.limit) })
	}
	requirement(t, "PLA-28", func(t *testing.T) {
		gift := f.richGift(t)
		f.testLength(t, "customization.details", 2000,
			ofGift(gift.GetId(), record{"Size": "S", "Colour": "Red"}), with("customization", record{}))
	})
	requirement(t, "PLA-35", func(t *testing.T) { f.testLength(t, "items.0.customProductName", 255, custom("1.00", "SEK")) })
	for _, field := range []field{
		{"PLA-41", "recipient.name", 100},
		{"PLA-47", "recipient.address.street", 255},
		{"PLA-48", "recipient.address.city", 100},
		{"PLA-19", "client.name", 255},
	} {
		requirement(t, field.id, func(t *testing.T) {
			for _, change := range []change{without(field.path), with(field.path, "  "), with(field.path, nil)} {
				f.invalid(t, field.path+" required", change)
			}
			f.testLength(t, field.path, field.limit)
			if field.path == "client.name" {
				f.invalid(t, "client required", without("client"))
			}
		})
	}
	for id, path := range map[string]string{"PLA-20": "client.email", "PLA-44": "recipient.email"} {
		requirement(t, id, func(t *testing.T) {
			f.place(t, without(path))
			f.testLength(t, path, 255)
			f.invalid(t, path+" invalid", with(path, "ann@"))
		})
	}
}

// testRecipients is about where a gift goes.
func (f *fixture) testRecipients(t *testing.T) {
	requirement(t, "PLA-42", func(t *testing.T) {
		f.invalid(t, "recipient.phone required", without("recipient.phone"))
		f.place(t, with("recipient.phone", "+46 70 111 22 33"+strings.Repeat(" ", 34)))
		f.invalid(t, "recipient.phone too_long", with("recipient.phone", "+46 70 111 22 33"+strings.Repeat("-", 35)))
	})
	requirement(t, "PLA-43", func(t *testing.T) { f.invalid(t, "recipient.address required", without("recipient.address")) })
	requirement(t, "PLA-45", func(t *testing.T) {
		for _, phone := range []string{"+46701112233", "+46 (70) 111-22.33", "+353 85 012 3456", "+12025550123"} {
			f.place(t, with("recipient.phone", phone))
		}
	})
	requirement(t, "PLA-46", func(t *testing.T) {
		for _, phone := range []string{"+46CALLME", "0701112233", "46701112233", "+0701112233", "+46", "+467011122334455667"} {
			f.invalid(t, "recipient.phone invalid", with("recipient.phone", phone))
		}
	})
	requirement(t, "PLA-49", func(t *testing.T) {
		f.invalid(t, "recipient.address.country required", without("recipient.address.country"))
		for _, country := range []string{"SWE", "se", "XX", "Sweden"} {
			f.invalid(t, "recipient.address.country invalid", with("recipient.address.country", country))
		}
	})
	const postal = "SE NO DK FI IS DE FR NL BE AT CH ES IT PT PL GR CZ SK HU RO BG HR SI EE LT LV LU UA US CA MX BR GB IN JP SG CN KR AU NZ TH MY ID PH VN ZA TR IL"
	requirement(t, "PLA-51", func(t *testing.T) {
		for country := range strings.FieldsSeq(postal) {
			f.invalid(t, "recipient.address.postalCode required", custom("1.00", "SEK"), with("recipient.address.country", country),
				without("recipient.address.postalCode"))
		}
	})
	requirement(t, "PLA-52", func(t *testing.T) {
		for _, country := range []string{"IE", "HK", "AE", "MT", "CL", "NG"} {
			require.NotContains(t, strings.Fields(postal), country)
			f.place(t, custom("1.00", "SEK"), with("recipient.address.country", country), without("recipient.address.postalCode"))
		}
	})
}
