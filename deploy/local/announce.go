package local

import (
	"fmt"
	"path/filepath"
	"time"
)

// announce writes demo.env and tells how to begin.
func (s *Stack) announce(cfg wiring, d demo, took time.Duration) error {
	variables := cfg.variables(d)
	s.Env = make(map[string]string, len(variables))
	for _, v := range variables {
		s.Env[v.Name] = v.Value
	}
	if err := writeEnv(cfg.Dir, variables); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cfg.Out, ready, took.Round(100*time.Millisecond),
		cfg.publicURL(),
		cfg.addr(portTenants), cfg.addr(portCatalog), cfg.addr(portOrders),
		cfg.addr(portPersonalLinks), cfg.addr(portEvents), cfg.addr(portWebhook), cfg.certificates.dir,
		cfg.inboxURL(), filepath.Join(cfg.Dir, "stack.log"), quoteWord(EnvFile(cfg.Dir)))
	return err
}

const ready = `
Partner Gifting is ready (%s).

  REST API   %s
  gRPC       tenants %s, catalog %s, orders %s,
             personal-links %s, events %s, webhook %s,
             with the certificates in %s
  Webhooks   %s shows what arrived
  Log        %s

A first order:

  source %s
  curl -i "$GIFTING_URL/orders" -H "Authorization: Bearer $GIFTING_KEY" \
    -H "Idempotency-Key: $(date +%%s)-$RANDOM" -H 'Content-Type: application/json' -d '{
      "externalOrderId": "order-'$(date +%%s)-$RANDOM'", "brandId": "'$GIFTING_BRAND_ID'",
      "items": [{"productId": "'$GIFTING_PRODUCT_ID'"}], "client": {"name": "Ada Player"},
      "recipient": {"name": "Ada Player", "phone": "+46701234567", "address":
        {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"}}}'

Ctrl-C stops everything.
`
