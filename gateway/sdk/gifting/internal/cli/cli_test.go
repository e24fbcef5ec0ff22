package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

type failing struct{}

var errNetwork = errors.New("network is unreachable")

// RoundTrip implements http.RoundTripper.
func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNetwork }

func TestErrorsHaveTheirExitCodesAndWords(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"POST /orders/1:cancel": `409 {"title":"Not cancellable","code":"not_cancellable","detail":"It is sent.","currentStatus":"SENT"}`,
		"GET /orders":           `401 {"title":"Invalid API key","code":"invalid_api_key"}`,
		"POST /orders": `400 {"title":"Invalid request","code":"invalid_request",
			"errors":[{"field":"items[0].budget","code":"required","message":"is missing\u001b[2J"}]}`,
		"POST /orders:validate": `{"valid":false,"problems":[{"code":"brand_required"}]}`,
	})
	for line, want := range map[string]struct {
		code int
		err  string
	}{
		"orders cancel 1 --reason x": {
			1, "gifting: Not cancellable (not_cancellable): It is sent.\n  status now: SENT\n  request: request-1\n",
		},
		"orders place": {
			1,
			"gifting: Invalid request (invalid_request)\n  items[0].budget: is missing\\u001b[2J (required)\n  request: request-1\n",
		},
		"orders cancel 1": {2, "gifting: Wrong command or profile: say why: --reason\n"},
		"orders cancel":   {2, "gifting: Wrong command or profile: the arguments are cancel ORDER\n"},
		"orders burn": {
			2,
			"gifting: Wrong command or profile: unknown command: gifting orders burn: gifting orders --help lists the commands\n",
		},
		"lsten": {
			2, "gifting: Wrong command or profile: unknown command: gifting lsten: did you mean listen?\n",
		},
		"lsten --help": {
			2, "gifting: Wrong command or profile: unknown command: gifting lsten: did you mean listen?\n",
		},
		"orders burn -h": {
			2,
			"gifting: Wrong command or profile: unknown command: gifting orders burn: gifting orders --help lists the commands\n",
		},
		"completion elvish": {2, ""},
		"help orders burn": {
			2,
			"gifting: Wrong command or profile: unknown command: gifting orders burn: gifting orders --help lists the commands\n",
		},
		"burn -o json": {
			2, `{"code":"","title":"Wrong command or profile",` +
				`"detail":"unknown command: gifting burn: gifting --help lists the commands"}` + "\n",
		},
		"events tail --after x --from-beginning": {2, "gifting: Wrong command or profile: give --after or --from-beginning, not both\n"},
		"orders list --sort":                     {2, "gifting: Wrong command or profile: unknown flag: --sort\n"},
		"orders list -o xml":                     {2, "gifting: Wrong command or profile: -o is table or json\n"},
		"orders list --profile none":             {2, ""},
		"catalog list":                           {2, "gifting: Wrong command or profile: name the country of delivery: --country SE\n"},
		"orders get 1":                           {4, "gifting: Not found (not_found)\n  request: request-1\n"},
		"orders list":                            {5, "gifting: Invalid API key (invalid_api_key)\n  request: request-1\n"},
		"orders validate":                        {6, ""},
	} {
		u := server.user()
		u.env["GIFTING_CONFIG"] = filepath.Join(t.TempDir(), "gifting.yaml")
		u.in = strings.NewReader(`{"externalOrderId": 7}`)
		got := u.run(t, strings.Fields(line)...)
		require.Equal(t, want.code, got.code, line+got.err)
		if want.err != "" {
			require.Equal(t, want.err, got.err)
		}
	}
	require.Contains(t, strings.Join(server.sent, "\n"), `POST /orders  {"externalOrderId":7}`,
		"the request is sent as it is, so that the API names its errors")
	got := server.user().run(t, "orders", "get", "1", "-o", "json")
	require.JSONEq(t, `{"code":"not_found","title":"Not found","detail":"","requestId":"request-1"}`, got.err)
}

func TestAnEmptyValueIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	server := newAPI(t, nil)
	for empty, lines := range map[string][]string{
		"--profile":         {"orders list --profile=", "login --profile=", "logout --profile="},
		"--url":             {"login --url="},
		"--file":            {"orders place --file=", "orders update-delivery 1 --file=", "links create --file="},
		"--after":           {"events tail --after=", "listen --forward-to 3000 --after=", "orders list --after="},
		"--type":            {"webhooks replay --from 1h --type=", "webhooks deliveries --type=", "events tail --type="},
		"--status":          {"links list --status="},
		"--product-id":      {"links create --brand-id b --label Ann --product-id="},
		"--recipient.email": {"orders update-delivery 1 --expected-version 0 --recipient.email="},
		"--forward-to":      {"doctor --forward-to="},
		"--idempotency-key": {"orders place --idempotency-key="},
	} {
		for _, line := range lines {
			got := server.user().run(t, strings.Fields(line)...)
			require.Equal(t, 2, got.code, line)
			require.Contains(t, got.err, "profile: "+empty+" is empty: is the variable set from which it comes?\n", line)
		}
	}
	got := server.user().run(t, "profiles", "use", "")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "an argument is empty")
	require.Empty(t, server.sent)
}

func TestAnAddressWithoutItsKeyDoesNotMeanAnotherProfile(t *testing.T) {
	t.Parallel()
	production, sandbox := newAPI(t, nil), newAPI(t, nil)
	u := &user{
		env: map[string]string{"GIFTING_CONFIG": filepath.Join(t.TempDir(), "gifting.yaml"), "GIFTING_URL": production.URL + "/"},
		in:  strings.NewReader("gft_live_key\n"),
	}
	require.Zero(t, u.run(t, "login", "--no-keyring").code)
	require.Equal(t, 4, u.run(t, "orders", "get", "1").code, "it is the address of the profile")
	before := len(production.sent)

	u.env["GIFTING_URL"] = sandbox.URL
	got := u.run(t, "orders", "get", "1")
	require.Equal(t, 2, got.code)
	require.Equal(t, "gifting: Wrong command or profile: GIFTING_URL is set without GIFTING_KEY, and is not the address of the "+
		"current profile sandbox: set both, or choose a profile with --profile\n", got.err)
	require.Len(t, production.sent, before)
	require.Equal(t, 4, u.run(t, "orders", "get", "1", "--profile", "sandbox").code)
	require.Len(t, production.sent, before+1)
}

func TestALostAnswerCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	u := newAPI(t, nil).user()
	u.transport = failing{}
	got := u.run(t, "orders", "cancel", "1", "--reason", "x", "--timeout", "100ms")
	require.Equal(t, 3, got.code)
	require.Contains(t, got.err, "gifting: No answer: POST /orders/1:cancel: network is unreachable (1 attempts)")
	require.Regexp(t, `repeat the command with --idempotency-key [A-Z2-7]{26}\n$`, got.err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, 130, u.runIn(ctx, "orders", "get", "1").code)
	got = u.run(t, "orders", "get", "")
	require.Equal(t, 2, got.code, "nothing was sent, and a repetition would not help")
	require.Contains(t, got.err, "gifting: Wrong command or profile: ")

	server := newAPI(t, map[string]string{"POST /orders/1:cancel": `{"id":"1","status":"CANCELLED"}`})
	require.Zero(t, server.user().run(t, "orders", "cancel", "1", "--reason", "x", "--idempotency-key", "mine").code)
	require.Equal(t, []string{"mine"}, server.keys)
}

func TestAReplayOfAnAgeIsRepeatedWithItsTimes(t *testing.T) {
	t.Parallel()
	u := newAPI(t, nil).user()
	u.transport = failing{}
	got := u.run(t, "webhooks", "replay", "--from", "2h", "--timeout", "100ms")
	require.Equal(t, 3, got.code)
	_, flags, found := strings.Cut(got.err, "repeat the command with ")
	require.True(t, found, got.err)
	require.Regexp(t, `^--from \S+Z --to \S+Z --idempotency-key \S+\n$`, flags)

	server := newAPI(t, map[string]string{"POST /webhooks:replay": `{"deliveries":3}`})
	require.Zero(t, server.user().run(t, append([]string{"webhooks", "replay"}, strings.Fields(flags)...)...).code)
	for _, other := range []string{"--from 2h", "--from 2026-03-14T09:00:00Z", "--from 2026-03-14T09:00:00Z --to 1h"} {
		got = server.user().run(t, append([]string{"webhooks", "replay", "--idempotency-key", "mine"}, strings.Fields(other)...)...)
		require.Equal(t, 2, got.code, other)
	}
	require.Len(t, server.sent, 1)
}

func TestAListIsATableOrJSON(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"GET /orders": `{"items":[{"id":"1","reference":"G-1","status":"SENT","externalOrderId":"a",
		"deliveryCountry":"SE","updatedAt":"2026-03-14T09:26:53.5Z"}],"nextCursor":"next"}`})
	got := server.user().run(t, "orders", "list", "--status", "SENT", "--limit", "1", "--updated-since", "2026-03-14T09:00:00Z")
	require.Zero(t, got.code)
	require.Equal(t, "ID  REFERENCE  STATUS  EXTERNAL ORDER ID  COUNTRY  UPDATED\n"+
		"1   G-1        SENT    a                  SE       2026-03-14T09:26:53Z\n", got.out)
	require.Equal(t, "There are more: --after next, or --all\n", got.err)
	require.Contains(t, server.sent[0], "limit=1&status=SENT&updatedSince=2026-03-14T09%3A00%3A00Z")
	var listed struct {
		Items      []gifting.Order
		NextCursor string
	}
	require.NoError(t, json.Unmarshal([]byte(server.user().run(t, "orders", "list", "-o", "json").out), &listed))
	require.Equal(t, "next", listed.NextCursor)
	require.Equal(t, "G-1", listed.Items[0].Reference)
	require.Equal(t, 2, server.user().run(t, "orders", "list", "--updated-since", "yesterday").code)
}

func TestTheNextPageOfAnAgeNamesItsTime(t *testing.T) {
	t.Parallel()
	page := `{"items":[],"nextCursor":"next"}`
	server := newAPI(t, map[string]string{"GET /orders": page, "GET /personal-links": page, "GET /webhooks/deliveries": page})
	for list, filter := range map[string]string{
		"orders list": "--updated-since", "links list": "--updated-since", "webhooks deliveries": "--since",
	} {
		first := server.user().run(t, append(strings.Fields(list), filter, "2h")...)
		require.Zero(t, first.code, first.err)
		require.Regexp(t, `^There are more: `+filter+` \S+Z --after next, or --all\n$`, first.err)
		flags, _, _ := strings.Cut(strings.TrimPrefix(first.err, "There are more: "), ",")
		require.Zero(t, server.user().run(t, append(strings.Fields(list), strings.Fields(flags)...)...).code, list)

		got := server.user().run(t, append(strings.Fields(list), filter, "2h", "--after", "next")...)
		require.Equal(t, 2, got.code, list)
		require.Contains(t, got.err, filter+" takes a time with --after")
	}
	require.Len(t, server.sent, 6)
	for i := 0; i < len(server.sent); i += 2 {
		require.Equal(t, sinceOf(t, server.sent[i]), sinceOf(t, server.sent[i+1]))
	}
}

// sinceOf is the time in the filter of a request.
func sinceOf(t *testing.T, sent string) time.Time {
	t.Helper()
	query, err := url.ParseQuery(strings.Fields(sent)[2])
	require.NoError(t, err)
	since, err := time.Parse(time.RFC3339Nano, query.Get("updatedSince")+query.Get("since"))
	require.NoError(t, err)
	return since.UTC()
}

func TestWhatTheAPIIgnoredIsAWarning(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Ignored-Members", `"recipient.adress"`)
		_, _ = io.WriteString(w, `{"id":"1"}`)
	}))
	t.Cleanup(server.Close)
	u := &user{env: map[string]string{"GIFTING_URL": server.URL, "GIFTING_KEY": "key"}, in: strings.NewReader("{}")}
	got := u.run(t, "orders", "place", "-o", "json")
	require.Zero(t, got.code, got.err)
	require.Equal(t, "Warning: POST /orders: the API ignored the member recipient.adress, perhaps because it is misspelt\n", got.err)
}

func TestLogin(t *testing.T) {
	t.Parallel()
	server := newAPI(t, nil)
	path := filepath.Join(t.TempDir(), "gifting.yaml")
	u := &user{env: map[string]string{"GIFTING_CONFIG": path}}
	t.Run("is needed", func(t *testing.T) {
		got := u.run(t, "orders", "list")
		require.Equal(t, 2, got.code)
		require.Contains(t, got.err, "gifting login")
	})
	t.Run("tests the key and stores it", func(t *testing.T) {
		u.in = strings.NewReader("gft_sbx_key\n")
		got := u.run(t, "login", "--url", server.URL)
		require.Zero(t, got.code, got.err)
		require.Contains(t, got.out, "Fjord")
		require.NotContains(t, got.out+got.err, "gft_sbx_key")
		got = u.run(t, "profiles", "-o", "json")
		require.JSONEq(t,
			`[{"name":"sandbox","current":true,"url":"`+server.URL+`","tenant":"Fjord","environment":"sandbox","keyIn":"keyring"}]`, got.out)
		require.Equal(t, 4, u.run(t, "orders", "get", "1").code, "the key is used")
	})
	t.Run("stores a second key", func(t *testing.T) {
		u.in = strings.NewReader("gft_sbx_two")
		require.Zero(t, u.run(t, "login", "--url", server.URL, "--profile", "two", "--no-keyring").code)
		require.Regexp(t, `\*        two      sandbox      Fjord   \S+  file`, u.run(t, "profiles").out)
		require.Zero(t, u.run(t, "profiles", "use", "sandbox").code)
		require.Equal(t, 2, u.run(t, "profiles", "use", "three").code)
		require.Regexp(t, `\*        sandbox  sandbox      Fjord   \S+  keyring`, u.run(t, "profiles").out)
	})
	t.Run("ends", func(t *testing.T) {
		require.Zero(t, u.run(t, "logout").code)
		require.Equal(t, 2, u.run(t, "logout").code, "no profile is the current one")
		require.Zero(t, u.run(t, "logout", "--profile", "two").code)
		require.JSONEq(t, `[]`, u.run(t, "profiles", "-o", "json").out)
	})
	t.Run("refuses what is no key, and what the API refuses", func(t *testing.T) {
		u.in = strings.NewReader("\n")
		require.Equal(t, 2, u.run(t, "login", "--url", server.URL).code)
		u.in = strings.NewReader("key")
		require.Equal(t, 2, u.run(t, "login", "--url", "http://example.com").code)
		refusing := newAPI(t, map[string]string{"GET /me": `401 {"code":"invalid_api_key"}`})
		u.in = strings.NewReader("key")
		require.Equal(t, 5, u.run(t, "login", "--url", refusing.URL).code)
		require.JSONEq(t, `[]`, u.run(t, "profiles", "-o", "json").out)
	})
}

func TestLoginAndLogoutOnceTheKeyringIsGone(t *testing.T) { //nolint:paralleltest // The keyring of the tests is one of the process.
	server := newAPI(t, nil)
	u := &user{env: map[string]string{"GIFTING_CONFIG": filepath.Join(t.TempDir(), "gifting.yaml")}}
	for _, name := range []string{"one", "two"} {
		u.in = strings.NewReader("gft_sbx_key")
		require.Zero(t, u.run(t, "login", "--url", server.URL, "--profile", name).code)
	}
	keyring.MockInitWithError(keyring.ErrUnsupportedPlatform)
	t.Cleanup(keyring.MockInit)
	u.in = strings.NewReader("gft_sbx_new")
	got := u.run(t, "login", "--url", server.URL, "--profile", "one")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.err, "Warning: the keyring may still have the old key of the profile one")
	got = u.run(t, "logout", "--profile", "two")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.err, "Warning: the keyring may still have the old key of the profile two")
	require.Regexp(t, `^CURRENT.*\n\* +one .* file\n$`, u.run(t, "profiles").out)
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("1", 64)
	body := `{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10","type":"ping","occurredAt":"2026-01-01T00:00:00Z",` +
		`"environment":"sandbox","data":{}}`
	headers := gifting.WebhookHeaders([]byte(body), "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10", time.Now().Add(-time.Hour), secret)
	signature := "Service-Signature: " + headers.Get("Service-Signature")
	for name, c := range map[string]struct {
		body, secret string
		more         []string
		code         int
		want         string
	}{
		"nothing":                     {body, secret, nil, 0, "verified  true"},
		"a secret of before as well":  {body, strings.Repeat("2", 64) + "\n" + secret, nil, 0, "verified  true"},
		"a line break more":           {body + "\n", secret, nil, 6, "has a line break at its end"},
		"another secret":              {body, strings.Repeat("2", 64), nil, 6, "verify the raw body"},
		"its age":                     {body, secret, []string{"--at", "0s"}, 6, "set the clock"},
		"not its age when it arrived": {body, secret, []string{"--at", "1h"}, 0, "verified  true"},
		"no secret":                   {body, "", nil, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &user{env: map[string]string{"GIFTING_WEBHOOK_SECRET": c.secret}, in: strings.NewReader(c.body)}
			got := u.run(t, append([]string{"verify", "-H", signature}, c.more...)...)
			require.Equal(t, c.code, got.code, got.err)
			require.Contains(t, got.out, c.want)
		})
	}
	u := &user{env: map[string]string{}, in: strings.NewReader("")}
	require.Zero(t, u.run(t, "verify", "--body", fileOf(t, body), "--secret-file", fileOf(t, "\ufeff"+secret), "-H", signature).code)
	got := u.run(t, "verify", "--body", fileOf(t, body), "--secret-file", fileOf(t, secret), "-o", "json")
	require.Equal(t, 6, got.code)
	require.Contains(t, got.out, "no proxy removes them")
	require.Equal(t, 2, u.run(t, "verify", "--secret-file", fileOf(t, secret), "-H", "no header").code)
	require.Equal(t, 2, u.run(t, "verify", "--secret-file", "/none").code)
	u.in = strings.NewReader(secret)
	require.Equal(t, 2, u.run(t, "verify", "--secret-file", "-", "-H", signature).code)
}

func TestAnExampleOrderAnswersWhatTheTenantRequires(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"GET /brands": `[{"id":"b1"},{"id":"b2"}]`})
	got := server.user().run(t, "orders", "example")
	require.Zero(t, got.code, got.err)
	var order gifting.PlaceOrderRequest
	require.NoError(t, json.Unmarshal([]byte(got.out), &order))
	require.Equal(t, "b1", *order.BrandID)
	require.Equal(t, "SEK", order.Items[0].Budget.Currency)
	require.Len(t, order.CustomFields, 3)
	require.Equal(t, "S", *order.CustomFields[1].TextValue)
	require.True(t, *order.CustomFields[2].Checked)
	none := newAPI(t, map[string]string{"GET /brands": `[]`}).user().run(t, "orders", "example")
	require.Equal(t, 1, none.code)
	require.Contains(t, none.err, "reaches no brand")
}

func TestEventsAreCausedOnlyInTheSandbox(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"GET /me": strings.Replace(me, `"environment":"sandbox"`, `"environment":"production"`, 1)})
	got := server.user().run(t, "trigger", "order.completed")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "only in the sandbox")
	require.Len(t, server.sent, 1, "nothing was changed")
	got = server.user().run(t, "trigger", "order.burnt")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "order.created, order.approved")
}

func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	u := &user{env: map[string]string{}, in: strings.NewReader("")}
	for _, line := range []string{
		"", "orders", "links", "catalog", "sync", "events", "webhooks", "listen --help", "completion bash",
		"completion zsh", "--version", "help", "help orders", "help orders get 1",
	} {
		got := u.run(t, strings.Fields(line)...)
		require.Zero(t, got.code, line)
		require.NotEmpty(t, got.out, line)
	}
}

func TestOddAnswersArePrintedOrRefused(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"GET /catalog/products": `{"items":[{"id":"gone","listed":false,"updatedAt":"2026-01-01T00:00:00Z"},null],"nextCursor":null}`,
		"GET /brands":           `[{"id":"\u009b2J\u202e"}]`,
	})
	got := server.user().run(t, "catalog", "list", "--country", "SE")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, "gone")
	got = server.user().run(t, "orders", "example")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, `"brandId": "\u009b2J\u202e"`)
	require.Equal(t, 1, server.user().run(t, "trigger", "personal_link.created").code)
	results := newAPI(t, map[string]string{
		"GET /brands": `[{"id":"b"}]`, "GET /catalog/products": `{"items":[{"id":"p","listed":true,"available":true}],"nextCursor":null}`,
		"POST /personal-links:create-batch": `{"results":[]}`,
	})
	require.Equal(t, 1, results.user().run(t, "trigger", "personal_link.created").code)
}

func TestALinkNeedsNoCampaign(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"GET /brands": `[{"id":"b"}]`,
		"GET /catalog/products": `{"items":[{"id":"gone","listed":false},{"id":"p1","listed":true,"available":false},
			{"id":"p2","listed":true,"available":true}],"nextCursor":null}`,
		"POST /personal-links:create-batch":    `{"results":[{"outcome":"CREATED","link":{"id":"l","status":"ACTIVE"}}]}`,
		"POST /sandbox/personal-links/l:claim": `{"id":"l","status":"CLAIMED","orderId":"o"}`,
	})
	got := server.user().run(t, "trigger", "personal_link.claimed")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "CLAIMED")
	require.Contains(t, strings.Join(server.sent, "\n"),
		`POST /personal-links:create-batch  {"brandId":"b","productIds":["p2"],"recipients":[`)
}

func TestAFileOfJSONIsReadOrSaysWhereItIsWrong(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"POST /orders": `{"id":"1"}`})
	for name, c := range map[string]struct{ content, says string }{
		"a byte order mark": {"\ufeff{\"externalOrderId\": \"e\"}\r\n", ""},
		"UTF-16":            {"\xff\xfe{\x00}\x00", "is UTF-16: save it as UTF-8\n"},
		"a comma too many": {
			"{\n  \"name\": \"Åsa\",\n  \"ö\": 1,}",
			"is not JSON: line 3, column 10: invalid character '}' looking for beginning of object key string\n",
		},
		"an early end": {"{\"a\":", "is not JSON: line 1, column 5: unexpected end of JSON input\n"},
		"nothing":      {"", "is not JSON: line 1, column 1: unexpected end of JSON input\n"},
	} {
		path := fileOf(t, c.content)
		got := server.user().run(t, "orders", "place", "-f", path)
		if c.says == "" {
			require.Zero(t, got.code, name+got.err)
			continue
		}
		require.Equal(t, 2, got.code, name)
		require.Equal(t, "gifting: Wrong command or profile: "+path+" "+c.says, got.err)
	}
	require.Equal(t, []string{`POST /orders  {"externalOrderId":"e"}`}, server.sent)
	u := server.user()
	u.in = strings.NewReader("\ufeffgft_sbx_key\r\n")
	u.env["GIFTING_CONFIG"] = filepath.Join(t.TempDir(), "gifting.yaml")
	require.Zero(t, u.run(t, "login", "--url", server.URL).code, "a key from a file with a mark")
}

func TestDoctorSurvivesAnAnswerWithoutDetails(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{
		"GET /me":              strings.Replace(me, `"webhookUrl":null`, `"webhookUrl":"https://a.b"`, 1),
		"POST /webhooks:test":  `{"responseStatus":null,"error":null}`,
		"GET /webhooks/health": `{"state":"FAILING","failingSince":null,"pending":1}`,
	})
	got := server.user().run(t, "doctor")
	require.Equal(t, 6, got.code, got.err)
	require.Contains(t, got.out, "failing, 1 wait")
}

func TestAFlagThatWouldBeIgnoredIsRefused(t *testing.T) {
	t.Parallel()
	server := newAPI(t, nil)
	for _, flag := range []string{"campaign-id", "brand-id", "product-id", "label", "external-recipient-id", "message", "locale"} {
		got := server.user().run(t, "links", "create", "-f", "-", "--"+flag, "x")
		require.Equal(t, 2, got.code)
		require.Contains(t, got.err, "[file "+flag+"]")
	}
	got := server.user().run(t, "webhooks", "deliveries", "--type", "order.created", "--type", "order.updated")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "--type takes one type here")
	require.Equal(t, 2, server.user().run(t, "listen", "--forward-to", "http://app.localhost:3000").code)
	require.Empty(t, server.sent)
}
