package idempotent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
)

// anOrder has a typical size.
const anOrder = `{"externalOrderId":"crm-order-104233","brandId":"0190d2b4-0000-7a53-9f10-0123456789ab",` +
	`"campaignId":"0190d2b4-1111-7a53-9f10-0123456789ab","items":[{"kind":"CATALOG","productId":"0190d2b4-2222-7a53-9f10-0123456789ab",` +
	`"variations":{"Size":"M","Colour":"Sea green"}}],"recipient":{"name":"Ann-Marie Berg","email":"ann@example.com","phone":"+46 70 123 45 67"},` +
	`"delivery":{"address":{"line1":"Storgatan 1","postalCode":"111 22","city":"Stockholm","country":"SE"},"deliverBy":"2026-06-01"},"urgent":false}`

// BenchmarkFingerprint measures an order and bodies of the maximum size.
func BenchmarkFingerprint(b *testing.B) {
	f := idempotent.Fingerprinter{Key: make([]byte, 32)}
	for name, body := range map[string]string{
		"an order":      anOrder,
		"many members":  manyMembers(500_000),
		"many elements": "[" + strings.Repeat("1,", 5_000_000) + "1]",
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(body)
			b.ReportAllocs()
			for b.Loop() {
				f.Of(http.MethodPost, "/orders", nil, raw)
			}
		})
	}
}
