package harness

import (
	"crypto/rand"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The personal data of every test. They must appear nowhere but in what is encrypted.
const (
	MarkedName   = "Zebedee Quillfeather"
	MarkedPhone  = "+46701112233"
	MarkedEmail  = "zebedee.quillfeather@example.org"
	MarkedStreet = "Kattfotsgränd 987"
)

// RequireNoPersonalData demands that the text has none of the marked values, whether in clear or as hexadecimal bytes.
func RequireNoPersonalData(t *testing.T, text string) {
	t.Helper()
	for _, marked := range []string{MarkedName, MarkedPhone, MarkedEmail, MarkedStreet} {
		require.NotContains(t, text, marked)
		require.NotContains(t, text, hex.EncodeToString([]byte(marked)))
	}
}

// Order is the body of an order for the demo's gift, after the changes.
func (p *Platform) Order(t *testing.T, changes ...func(order map[string]any)) string {
	t.Helper()
	order := map[string]any{
		"externalOrderId": "e2e-" + rand.Text(),
		"brandId":         p.Env["GIFTING_BRAND_ID"],
		"items":           []any{map[string]any{"productId": p.Env["GIFTING_PRODUCT_ID"]}},
		"client":          map[string]any{"name": MarkedName, "email": MarkedEmail},
		"recipient": map[string]any{
			"name": MarkedName, "phone": MarkedPhone, "email": MarkedEmail,
			"address": map[string]any{"street": MarkedStreet, "city": "Visby", "postalCode": "621 57", "country": "SE"},
		},
	}
	for _, change := range changes {
		change(order)
	}
	return JSON(t, order)
}

// Batch is the body of a batch that makes one link to the demo's gift, after the changes.
func (p *Platform) Batch(t *testing.T, changes ...func(batch map[string]any)) string {
	t.Helper()
	batch := map[string]any{
		"brandId": p.Env["GIFTING_BRAND_ID"], "productIds": []any{p.Env["GIFTING_PRODUCT_ID"]},
		"recipients": []any{map[string]any{"label": MarkedName}},
	}
	for _, change := range changes {
		change(batch)
	}
	return JSON(t, batch)
}
