package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/contract"
	"github.com/partnergifting/platform/pkg/problem"
)

// Call is one request to the API.
type Call struct {
	Method string
	Path   string
	Key    string
	// IdempotencyKey of a POST is random if none is given.
	IdempotencyKey string
	Body           string
	Header         map[string]string
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Do makes a call and validates it against the OpenAPI document. Only a refused call may be invalid.
func (p *Platform) Do(t *testing.T, c Call) Answer {
	t.Helper()
	request := p.Request(t, c)
	a := Exchange(t, request)
	assert.NoError(t, p.contract(t).Check(contract.Exchange{
		Method: request.Method, URL: request.URL, Header: request.Header, Sent: []byte(c.Body),
		Status: a.Status, AnswerHeader: a.Header, Received: []byte(a.Body),
	}))
	return a
}

// Send makes a call that is not validated.
func (p *Platform) Send(t *testing.T, c Call) Answer {
	t.Helper()
	return Exchange(t, p.Request(t, c))
}

// Request is the call as an HTTP request.
func (p *Platform) Request(t *testing.T, c Call) *http.Request {
	t.Helper()
	var body io.Reader = http.NoBody
	if c.Body != "" {
		body = strings.NewReader(c.Body)
	}
	request, err := http.NewRequestWithContext(t.Context(), c.Method, p.Env["GIFTING_URL"]+c.Path, body)
	require.NoError(t, err)
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if c.Method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", rand.Text())
		if c.IdempotencyKey != "" {
			request.Header.Set("Idempotency-Key", c.IdempotencyKey)
		}
	}
	for name, value := range c.Header {
		request.Header.Set(name, value)
	}
	return request
}

// Exchange sends a request and reads its response. It follows no redirects.
func Exchange(t *testing.T, request *http.Request) Answer {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for _, found := range claimURL.FindAllSubmatch(content, -1) {
		claimTokens.Store(string(found[1]), true)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: string(content)}
}

var (
	// claimURL matches a claim URL and its token. That of an erased link has a short word in place of the token.
	claimURL = regexp.MustCompile(`"claimUrl":"[^"]*/([^"/]{22,})"`)
	// claimTokens are the tokens of all links that the tests of this process have seen.
	claimTokens sync.Map
)

// requireNoClaimToken checks that the logs of a platform contain no claim token. Whoever reads one can claim the gift.
func requireNoClaimToken(t *testing.T, logs string) {
	t.Helper()
	claimTokens.Range(func(token, _ any) bool {
		return assert.NotContains(t, logs, token)
	})
}

// Visit reads an address as a browser does, without a key.
func Visit(t *testing.T, address string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	return Exchange(t, request)
}

// Get reads a path.
func (p *Platform) Get(t *testing.T, key, path string) Answer {
	t.Helper()
	return p.Do(t, Call{Method: http.MethodGet, Path: path, Key: key})
}

// Post sends a body to a path.
func (p *Platform) Post(t *testing.T, key, path, body string) Answer {
	t.Helper()
	return p.Do(t, Call{Method: http.MethodPost, Path: path, Key: key, Body: body})
}

// OK checks for a success and returns the object in its body.
func (a Answer) OK(t *testing.T) map[string]any {
	t.Helper()
	require.Less(t, a.Status, http.StatusMultipleChoices, a.Body)
	return a.Object(t)
}

// Object reads the body as a JSON object.
func (a Answer) Object(t *testing.T) map[string]any {
	t.Helper()
	return Object(t, []byte(a.Body))
}

// Object reads a JSON object.
func Object(t *testing.T, content []byte) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal(content, &out), string(content))
	return out
}

// JSON writes a value as a body.
func JSON(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.NewEncoder(&out).Encode(value))
	return out.String()
}

// Problem checks for a problem with the code and the code's status, and returns it.
func (a Answer) Problem(t *testing.T, code problem.Code) map[string]any {
	t.Helper()
	body := a.Object(t)
	require.Equal(t, string(code), body["code"], a.Body)
	require.Equal(t, problem.Lookup(code).Status, a.Status, a.Body)
	require.InDelta(t, a.Status, body["status"], 0)
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	require.NotEmpty(t, body["title"])
	require.Contains(t, body["type"], "/errors#"+string(code))
	return body
}

// Invalid checks for an invalid_request with exactly these violations, each a field and its code, and returns the problem.
func (a Answer) Invalid(t *testing.T, want ...string) map[string]any {
	t.Helper()
	body := a.Problem(t, "invalid_request")
	require.ElementsMatch(t, want, Violations(t, body))
	return body
}

// Violations are the fields of a problem with their codes.
func Violations(t *testing.T, body map[string]any) []string {
	t.Helper()
	list, ok := body["errors"].([]any)
	require.True(t, ok, "no errors in %v", body)
	var out []string
	for _, one := range list {
		violation, ok := one.(map[string]any)
		require.True(t, ok)
		require.NotEmpty(t, violation["message"])
		out = append(out, fmt.Sprint(violation["field"], " ", violation["code"]))
	}
	return out
}

// contract is the OpenAPI document that the platform serves.
func (p *Platform) contract(t *testing.T) *contract.Contract {
	t.Helper()
	served, err := p.readContract()
	require.NoError(t, err)
	return served
}

func readContract(address string) (*contract.Contract, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return contract.Read(content)
}
