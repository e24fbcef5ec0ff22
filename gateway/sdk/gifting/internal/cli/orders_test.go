package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADeliveryIsCorrectedByFlagsOrAFile(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"POST /orders/1:update-delivery": `{"id":"1","version":5}`})
	correct := func(args ...string) ran {
		return server.user().run(t, append([]string{"orders", "update-delivery", "1"}, args...)...)
	}
	got := correct("--expected-version", "4", "--recipient.address.street", "Storgatan 2", "--recipient.address.postal-code", "11123",
		"--recipient.name", "Ann Ek", "--courier-comment=", "--urgent=false")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "version")
	require.Zero(t, correct("--expected-version", "0").code)
	require.Zero(t, correct("-f", fileOf(t, `{"expectedVersion": 4, "later": 1}`), "--idempotency-key", "mine").code)
	require.Equal(t, []string{
		`POST /orders/1:update-delivery  {"courierComment":"","expectedVersion":4,` +
			`"recipient":{"address":{"postalCode":"11123","street":"Storgatan 2"},"name":"Ann Ek"},"urgent":false}`,
		`POST /orders/1:update-delivery  {"expectedVersion":0,"recipient":{"address":{}}}`,
		`POST /orders/1:update-delivery  {"expectedVersion":4,"later":1}`,
	}, server.sent)
	require.Equal(t, "mine", server.keys[2])

	got = correct("--recipient.name", "Ann Ek")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "[file expected-version] is required")
	require.Equal(t, 2, correct("-f", "-", "--recipient.name", "Ann Ek").code)
	require.Equal(t, 2, correct("-f", "-", "--expected-version", "4").code)
	require.Len(t, server.sent, 3, "what is not clear is not sent")
}

func TestMessagesAreReadAndPosted(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"GET /orders/1/messages": `[{"id":"m1","author":{"kind":"BACKOFFICE_ACCOUNT","name":"Gifting"},` +
			`"body":"It is\nsigned.","createdAt":"2026-03-14T09:26:53.5Z"}]`,
		"GET /orders/2/messages":  `[]`,
		"POST /orders/1/messages": `{"id":"m2"}`,
	})
	got := server.user().run(t, "orders", "messages", "list", "1")
	require.Equal(t, "CREATED               AUTHOR              NAME     BODY\n"+
		"2026-03-14T09:26:53Z  BACKOFFICE_ACCOUNT  Gifting  It is signed.\n", got.out)
	got = server.user().run(t, "orders", "messages", "list", "1", "-o", "json")
	require.True(t, strings.HasPrefix(got.out, "[\n  {\n    \"author\""), got.out)
	require.Equal(t, "[]\n", server.user().run(t, "orders", "messages", "list", "2", "-o", "json").out)

	got = server.user().run(t, "orders", "messages", "post", "1", "--body", "Thank you.")
	require.Equal(t, "id  m2\n", got.out)
	require.Equal(t, `POST /orders/1/messages  {"body":"Thank you."}`, server.sent[len(server.sent)-1])
	require.Equal(t, 2, server.user().run(t, "orders", "messages", "post", "1").code)
}

func TestCampaignsAreReadAsATableOrARecord(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"GET /campaigns": `{"items":[
			{"id":"c1","brandId":"b","name":"Winter","status":"ACTIVE","expiresAt":"2026-12-24T00:00:00+01:00"},
			{"id":"c2","brandId":"b","name":"Spring","status":"DRAFT","expiresAt":null}],"nextCursor":null}`,
		"GET /campaigns/c1": `{"id":"c1","name":"Winter","offerings":[{"productId":"p","skus":[{"id":"s","stockRemaining":3}]}]}`,
	})
	got := server.user().run(t, "campaigns", "list", "--status", "ACTIVE", "--brand-id", "b")
	require.Equal(t, "ID  NAME    STATUS  BRAND  EXPIRES\n"+
		"c1  Winter  ACTIVE  b      2026-12-23T23:00:00Z\n"+
		"c2  Spring  DRAFT   b\n", got.out)
	got = server.user().run(t, "campaigns", "get", "c1", "--locale", "sv-SE")
	require.Regexp(t, `offerings\[0\]\.skus\[0\]\.stockRemaining +3\n`, got.out)
	require.Equal(t, []string{"GET /campaigns brandId=b&status=ACTIVE ", "GET /campaigns/c1 locale=sv-SE "}, server.sent)
}

func TestASecretIsRotatedWithAnOverlap(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"POST /webhooks:rotate-secret": `{"secret":"5257","previousSecretsValidUntil":null}`})
	got := server.user().run(t, "webhooks", "rotate-secret", "--overlap", "1h0m0.1s")
	require.Equal(t, "secret  5257\n", got.out)
	require.Contains(t, got.err, "only time")
	require.Zero(t, server.user().run(t, "webhooks", "rotate-secret").code)
	require.Equal(t, []string{
		`POST /webhooks:rotate-secret  {"overlapSeconds":3601}`, `POST /webhooks:rotate-secret  {"overlapSeconds":0}`,
	}, server.sent)

	lost := newAPI(t, map[string]string{"POST /webhooks:rotate-secret": `{"secret":null,"previousSecretsValidUntil":null}`})
	got = lost.user().run(t, "webhooks", "rotate-secret")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "rotate it again")
}
