package gifting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func TestAClientNeedsASafeAddressAndAKey(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"", "api.example.com", "http://api.example.com", "ftp://localhost", "https://", "https://a.b?x=1",
		"https://a.b?", "https://a.b#", "https://u:p@a.b", ":",
	} {
		_, err := gifting.New(base, "key")
		require.ErrorContains(t, err, "base URL", base)
	}
	for _, base := range []string{
		"https://api.example.com/api/public/v1", "http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1",
	} {
		_, err := gifting.New(base, "key")
		require.NoError(t, err, base)
	}
	for key, says := range map[string]string{
		"": "is empty: is the variable set", "a b": "has a line break or a space, perhaps pasted", "a\n": "has a line break",
		"ä": "has characters that no key has",
	} {
		_, err := gifting.New("https://a.b", key)
		require.ErrorContains(t, err, "the API key "+says)
	}
	for _, option := range []gifting.Option{gifting.WithTimeout(0), gifting.WithTotalTimeout(-1), gifting.WithMaxAttempts(0)} {
		_, err := gifting.New("https://a.b", "key", option)
		require.Error(t, err)
	}
}

func TestNoTextShowsTheKey(t *testing.T) {
	t.Parallel()
	client := newClient(t, &stub{script: script{broken}})
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(form, client), "gft_sbx")
	}
}

func TestARequestNamesItsProgramAndItsKey(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "{}")}}
	_, err := newClient(t, transport, gifting.WithUserAgent("shop/1.4")).Account.Me(t.Context())
	require.NoError(t, err)
	sent := transport.attempts[0]
	require.Equal(t, "https://api.example.com/api/public/v1/me", sent.url)
	require.Regexp(t, `^shop/1\.4 partner-gifting-go/\S+ go1\.`, sent.header.Get("User-Agent"))
	require.Equal(t, "Bearer gft_sbx_x", sent.header.Get("Authorization"))
	require.Equal(t, "application/json", sent.header.Get("Accept"))
}

func TestAnHTTPClientOfTheCallerStaysAsItIs(t *testing.T) {
	t.Parallel()
	own := &http.Client{}
	_, err := gifting.New("https://a.b", "key", gifting.WithHTTPClient(own), gifting.WithTransport(&stub{}))
	require.NoError(t, err)
	require.Nil(t, own.CheckRedirect)
	require.Nil(t, own.Transport)
}

func TestFiltersAreSentAsTheAPIReadsThem(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"items":[],"nextCursor":null}`)}}
	client := newClient(t, transport)
	since := time.Date(2026, 3, 14, 10, 26, 53, 589793999, time.FixedZone("CET", 3600))
	_, err := client.Orders.List(t.Context(), gifting.ListOrdersQuery{
		Status: gifting.OrderStatusSENT, UpdatedSince: since, Paging: gifting.Paging{After: "a+b", Limit: 7},
	}).First()
	require.NoError(t, err)
	require.Equal(t,
		"https://api.example.com/api/public/v1/orders?after=a%2Bb&limit=7&status=SENT&updatedSince=2026-03-14T09%3A26%3A53.589793Z",
		transport.attempts[0].url)
}

func TestAnIDCannotBecomeAnotherPath(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{refused(404, "not_found")}}
	client := newClient(t, transport)
	for id, want := range map[string]string{"../me": "/orders/..%2Fme", "a?b": "/orders/a%3Fb"} {
		_, err := client.Orders.Get(t.Context(), id)
		require.True(t, gifting.HasCode(err, gifting.CodeNotFound))
		require.Equal(t, "https://api.example.com/api/public/v1"+want, transport.attempts[len(transport.attempts)-1].url)
	}
	sent := len(transport.attempts)
	for _, id := range []string{"", ".", ".."} {
		_, err := client.Orders.Get(t.Context(), id)
		require.EqualError(t, err, "GET /orders/{orderId}: the id is empty or consists of dots")
	}
	_, err := client.Orders.Cancel(t.Context(), "1", gifting.CancelOrderRequest{}, gifting.WithIdempotencyKey(""))
	require.ErrorContains(t, err, "WithIdempotencyKey is empty")
	require.Len(t, transport.attempts, sent, "nothing was sent")
}

func TestAnAnswerThatIsNotOfTheAPISaysWhatMayBeWrong(t *testing.T) {
	t.Parallel()
	page := answered(404, "<!DOCTYPE html><title>No such page</title>", "Content-Type", "text/html; charset=utf-8")
	_, err := newClient(t, &stub{script: script{page}}).Account.Me(t.Context())
	require.ErrorContains(t, err, "Not Found (404): this is no address of the API: is the base URL complete")
	require.NotContains(t, err.Error(), "DOCTYPE")
	page = answered(403, "<!DOCTYPE html><title>Blocked</title>", "Content-Type", "text/html")
	_, err = newClient(t, &stub{script: script{page}}).Account.Me(t.Context())
	require.EqualError(t, err, "GET /me: Forbidden (403)")
}

func TestAProblemHasAllThatTheAPISays(t *testing.T) {
	t.Parallel()
	body := `{"type":"https://x/errors#a","title":"Invalid request","status":400,"code":"a_new_code","detail":"Two fields.",
		"newMember":1,"errors":[{"field":"items[0].budget.currency","code":"a_new_one","message":"must be SEK"}],
		"orderId":"o","currentStatus":"SENT"}`
	_, err := newClient(t, &stub{script: script{answered(400, body)}}).Account.Me(t.Context())
	problem, ok := gifting.ProblemOf(err)
	require.True(t, ok)
	require.Equal(t, gifting.Code("a_new_code"), problem.Code)
	field, ok := problem.FieldError("items[0].budget.currency")
	require.True(t, ok)
	require.Equal(t, "a_new_one", field.Code)
	require.Equal(t, "request-1", problem.RequestID)
	require.Equal(t, []string{"o", "SENT"}, []string{problem.OrderID, problem.CurrentStatus})
	require.Contains(t, string(problem.Raw), "newMember")
	require.EqualError(t, err,
		"GET /me: Invalid request (a_new_code 400): Two fields.; items[0].budget.currency: must be SEK (a_new_one)")
	require.False(t, gifting.HasCode(err, gifting.CodeNotFound))
	_, err = newClient(t, &stub{script: script{answered(403, "blocked by nginx")}}).Account.Me(t.Context())
	require.EqualError(t, err, "GET /me: Forbidden (403): blocked by nginx")
}

func TestACurrentETagIsNoProblem(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(304, "", "ETag", `"a"`)}}
	var response gifting.Response
	_, err := newClient(t, transport).Orders.Get(t.Context(), "1", gifting.WithIfNoneMatch(`"a"`), gifting.WithResponse(&response))
	require.ErrorIs(t, err, gifting.ErrNotModified)
	require.Equal(t, `"a"`, response.ETag())
	require.Len(t, transport.attempts, 1)
}

func TestAnImageIsReadAsItIs(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "\x89PNG", "Content-Type", "image/png")}}
	image, err := newClient(t, transport).Catalog.Image(t.Context(), "f")
	require.NoError(t, err)
	require.Equal(t, &gifting.ImageFile{ContentType: "image/png", Content: []byte("\x89PNG")}, image)
	require.Empty(t, transport.attempts[0].header.Get("Authorization"), "it opens without a key")
}

func TestAnyAnswerIsReadAsItIs(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "# Webhooks\n", "Content-Type", "text/markdown")}}
	var response gifting.Response
	err := newClient(t, transport).Call(t.Context(), "GET", "/docs/webhooks.md", nil, nil, gifting.WithResponse(&response))
	require.NoError(t, err)
	require.Equal(t, "# Webhooks\n", string(response.Body))
}

func TestACallOfALaterVersionCanBeMade(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"a":1}`)}}
	var result map[string]int
	require.NoError(t, newClient(t, transport).Call(t.Context(), http.MethodPost, "/new:call?x=1", json.RawMessage(`{}`), &result))
	require.Equal(t, map[string]int{"a": 1}, result)
	require.Len(t, transport.attempts[0].key, 26)
	require.Equal(t, "application/json", transport.attempts[0].header.Get("Content-Type"))
}

func TestAnEmptyListOfGiftsIsSent(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"results":[]}`)}}
	_, err := newClient(t, transport).PersonalLinks.Create(t.Context(), gifting.CreatePersonalLinksRequest{ProductIDs: []string{}})
	require.NoError(t, err)
	require.Contains(t, transport.attempts[0].body, `"productIds":[]`)
}
