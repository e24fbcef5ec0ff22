package post_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// endless is the body of an answer that never ends.
type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAtMost64KiBOfAnAnswerAreRead(t *testing.T) {
	t.Run("counted at the body", func(t *testing.T) {
		body := &endless{}
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		})}
		answer := post.New(client, time.Now).Post(t.Context(), post.Request{URL: "https://example.com/"})
		require.NoError(t, answer.Cause)
		require.Equal(t, 64<<10, body.read)
		require.True(t, body.closed)
		require.Len(t, answer.Body, 1<<10, "kept of it")
	})

	t.Run("a receiver that never ends is cut off", func(t *testing.T) {
		receiver, cut := webhooktest.NewReceiver(t), make(chan error, 1)
		receiver.Respond(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, &endless{})
			cut <- err
		})
		client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		answer := post.New(client, time.Now).Post(ctx, post.Request{URL: receiver.URL, Body: []byte("{}")})
		require.NoError(t, answer.Cause)
		require.NoError(t, ctx.Err(), "the bound ended the reading, not the time")
		require.Error(t, <-cut, "the connection is closed, not drained")
	})
}
