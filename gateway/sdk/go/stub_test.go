package gifting_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// attempt is a request that a stub has received.
type attempt struct {
	at        time.Time
	key, body string
	header    http.Header
	url       string
}

// reply is what a stub answers.
type reply struct {
	status int
	header http.Header
	body   io.Reader
}

// script has an answer for each attempt; the last one repeats.
type script []func(context.Context) (reply, error)

// stub is a transport that answers with a script.
type stub struct {
	script   script
	attempts []attempt
}

// RoundTrip implements http.RoundTripper.
func (s *stub) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.attempts = append(s.attempts, attempt{time.Now(), req.Header.Get("Idempotency-Key"), string(body), req.Header, req.URL.String()})
	said, err := s.script[min(len(s.attempts), len(s.script))-1](req.Context())
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: said.status, Header: said.header, Body: io.NopCloser(said.body), Request: req}, nil
}

func answered(status int, body string, headers ...string) func(context.Context) (reply, error) {
	return func(context.Context) (reply, error) {
		header := http.Header{"Content-Type": {"application/json"}, "Request-Id": {"request-1"}}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		return reply{status, header, strings.NewReader(body)}, nil
	}
}

func refused(status int, code string, headers ...string) func(context.Context) (reply, error) {
	return answered(status, `{"type":"x","title":"Refused","status":0,"code":"`+code+`"}`, headers...)
}

var errBroken = errors.New("connection reset by peer")

func broken(context.Context) (reply, error) { return reply{}, errBroken }

// silent answers nothing until the client gives up.
func silent(ctx context.Context) (reply, error) {
	<-ctx.Done()
	return reply{}, ctx.Err()
}

// brokenOff begins an answer and does not end it.
func brokenOff(context.Context) (reply, error) {
	return reply{http.StatusOK, http.Header{}, io.MultiReader(strings.NewReader(`{"id":`), failingReader{})}, nil
}

type failingReader struct{}

// Read implements io.Reader.
func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

const placed = `{"id":"8d4a6f0e-0000-4000-8000-000000000001","status":"PROCESSING","version":0,
	"newMember":{"of":"a later version"}}`

func newClient(t *testing.T, transport http.RoundTripper, options ...gifting.Option) *gifting.Client {
	t.Helper()
	client, err := gifting.New("https://api.example.com/api/public/v1/", "gft_sbx_x",
		append(options, gifting.WithTransport(transport))...)
	require.NoError(t, err)
	return client
}
