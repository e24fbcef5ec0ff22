package contract_test

import (
	"net/http"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/contract"
)

const (
	thing = `{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f","madeAt":"2026-03-14T09:26:53.589793Z","owner":null}`
	gone  = `{"type":"https://things.test/errors#gone","title":"Gone","status":422,"code":"gone"}`
)

func read(t *testing.T) *contract.Contract {
	t.Helper()
	raw, err := os.ReadFile("testdata/openapi.json")
	require.NoError(t, err)
	c, err := contract.Read(raw)
	require.NoError(t, err)
	return c
}

// made is a valid exchange that makes a thing.
func made() contract.Exchange {
	return contract.Exchange{
		Method: http.MethodPost,
		URL:    &url.URL{Scheme: "https", Host: "things.test", Path: "/api/v1/things"},
		Header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer x"}, "Idempotency-Key": {"k"}},
		Sent:   []byte(`{"name":"cup"}`),
		Status: http.StatusCreated,
		AnswerHeader: http.Header{
			"Content-Type": {"application/json"}, "Request-Id": {"00ff"}, "Date": {"today"}, "Content-Length": {"7"},
			"Cache-Control": {"no-store"},
		},
		Received: []byte(thing),
	}
}

// refused is an exchange whose request was refused.
func refused() contract.Exchange {
	e := made()
	e.Sent = []byte(`{"name":7}`)
	e.Status = http.StatusUnprocessableEntity
	e.AnswerHeader.Set("Content-Type", "application/problem+json")
	e.Received = []byte(gone)
	return e
}

// unknown is an exchange with a path that the document does not have.
func unknown() contract.Exchange {
	e := refused()
	e.URL = &url.URL{Path: "/api/v1/nothing"}
	e.Status = http.StatusNotFound
	return e
}

func TestValidTraffic(t *testing.T) {
	t.Parallel()
	c := read(t)
	at := func(method, path, answer string) contract.Exchange {
		e := made()
		e.Method, e.URL, e.Sent, e.Status, e.Received = method, &url.URL{Path: "/api/v1" + path}, nil, http.StatusOK, []byte(answer)
		e.AnswerHeader.Del("Request-Id")
		return e
	}
	for name, e := range map[string]contract.Exchange{
		"a success":                            made(),
		"a wrong request that was refused":     refused(),
		"a path that is not in the document":   unknown(),
		"a path with an id":                    at(http.MethodGet, "/things/7", thing),
		"an action":                            at(http.MethodPost, "/things/7:break", `{"broken":true}`),
		"HEAD, which answers without its body": at(http.MethodHead, "/things/7", ""),
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, c.Check(e)) })
	}
}

func TestTrafficAtOnce(t *testing.T) {
	t.Parallel()
	c := read(t)
	var group sync.WaitGroup
	for range 8 {
		for _, e := range []contract.Exchange{made(), refused(), unknown()} {
			group.Go(func() { assert.NoError(t, c.Check(e)) })
		}
	}
	group.Wait()
}

func TestInvalidTraffic(t *testing.T) {
	t.Parallel()
	c := read(t)
	answer := func(body string) func(*contract.Exchange) {
		return func(e *contract.Exchange) { e.Received = []byte(body) }
	}
	header := func(name, value string) func(*contract.Exchange) {
		return func(e *contract.Exchange) { e.AnswerHeader.Set(name, value) }
	}
	for name, tc := range map[string]struct {
		base  func() contract.Exchange
		spoil func(e *contract.Exchange)
	}{
		"a status that is not in the document": {made, func(e *contract.Exchange) { e.Status = http.StatusOK }},
		"an error that is not in the document": {refused, func(e *contract.Exchange) { e.Status = http.StatusTeapot }},
		"another media type":                   {made, header("Content-Type", "text/html")},
		"a problem as plain JSON":              {refused, header("Content-Type", "application/json")},
		"a header that is missing":             {made, func(e *contract.Exchange) { e.AnswerHeader.Del("Request-Id") }},
		"a header that is malformed":           {made, header("Request-Id", "none")},
		"a header that is not declared":        {made, header("Idempotent-Replayed", "true")},
		"no body":                              {made, answer("")},
		"null as body":                         {made, answer("null")},
		"a body that is no JSON":               {made, answer("{")},
		"a member that is missing": {
			made, answer(`{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f","madeAt":"2026-03-14T09:26:53Z"}`),
		},
		"a member that is not declared": {made, answer(thing[:len(thing)-1] + `,"street":"x"}`)},
		"a member of another type": {
			made, answer(`{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f","madeAt":"2026-03-14T09:26:53Z","owner":1}`),
		},
		"a member of another format":            {made, answer(`{"id":"7","madeAt":"yesterday","owner":null}`)},
		"a code that is not in the document":    {refused, answer(`{"type":"x","title":"X","status":422,"code":"odd"}`)},
		"a wrong body that was accepted":        {made, func(e *contract.Exchange) { e.Sent = []byte(`{"name":"saucer"}`) }},
		"a request without its header":          {made, func(e *contract.Exchange) { e.Header.Del("Idempotency-Key") }},
		"a request without a key":               {made, func(e *contract.Exchange) { e.Header.Del("Authorization") }},
		"an unknown path that exists":           {unknown, func(e *contract.Exchange) { e.Status = http.StatusOK }},
		"an unknown path without a problem":     {unknown, header("Content-Type", "text/plain")},
		"an unknown path without a Request-Id":  {unknown, func(e *contract.Exchange) { e.AnswerHeader.Del("Request-Id") }},
		"an unknown path with an odd problem":   {unknown, answer(`{"code":"gone"}`)},
		"an unknown path with an odd code":      {unknown, answer(`{"type":"x","title":"X","status":404,"code":"odd"}`)},
		"a method that the path does not have":  {made, func(e *contract.Exchange) { e.Method = http.MethodDelete }},
		"the answer of another path's resource": {made, answer(`{"broken":true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			e := tc.base()
			require.NoError(t, c.Check(e))
			tc.spoil(&e)
			require.ErrorIs(t, c.Check(e), contract.ErrInvalid)
		})
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	c := read(t)
	good := http.Header{"Content-Type": {"application/json"}, "Service-Event-Id": {"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"}}
	event := `{"type":"thing.made","at":1,"data":` + thing + `}`
	require.NoError(t, c.Webhook("thing.made", good, []byte(event)))
	require.NoError(t, c.Webhook("thing.made", good, []byte(`{"type":"thing.made","at":1,"data":{"kind":"pair"}}`)),
		"the other choice")
	for name, tc := range map[string]struct {
		kind   string
		header http.Header
		body   string
	}{
		"an event that is not in the document": {"thing.lost", good, event},
		"a type that is not the event's":       {"thing.made", good, `{"type":"thing.lost","at":1,"data":` + thing + `}`},
		"a member that is not declared":        {"thing.made", good, event[:len(event)-1] + `,"x":1}`},
		"data with an undeclared member":       {"thing.made", good, `{"type":"thing.made","at":1,"data":{"kind":"pair","x":1}}`},
		"data of an unknown kind":              {"thing.made", good, `{"type":"thing.made","at":1,"data":{"kind":"odd"}}`},
		"a member that is missing":             {"thing.made", good, `{"type":"thing.made","data":{"kind":"pair"}}`},
		"data that does not fit":               {"thing.made", good, `{"type":"thing.made","at":1,"data":{}}`},
		"no body":                              {"thing.made", good, ""},
		"a header that is missing":             {"thing.made", http.Header{"Content-Type": {"application/json"}}, event},
		"a header that is malformed": {
			"thing.made", http.Header{"Content-Type": {"application/json"}, "Service-Event-Id": {"7"}}, event,
		},
		"another media type": {
			"thing.made", http.Header{"Content-Type": {"text/plain"}, "Service-Event-Id": good["Service-Event-Id"]}, event,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, c.Webhook(tc.kind, tc.header, []byte(tc.body)), contract.ErrInvalid)
		})
	}
}

func TestAnIncompleteDocumentIsRefused(t *testing.T) {
	t.Parallel()
	const head = `{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{},`
	for name, raw := range map[string]string{
		"no JSON":     `openapi`,
		"no problem":  head + `"webhooks":{},"components":{"schemas":{}}}`,
		"no webhooks": head + `"components":{"schemas":{"Problem":{"type":"object"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := contract.Read([]byte(raw))
			require.Error(t, err)
		})
	}
}
