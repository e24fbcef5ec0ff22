package webhookclient_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// endless is the body of a response that never ends.
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

func TestAtMost64KiBOfAResponseAreRead(t *testing.T) {
	t.Parallel()
	t.Run("counted at the body", func(t *testing.T) {
		body := &endless{}
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		})}
		response := webhookclient.New(client, time.Now).Post(t.Context(), webhookclient.Request{URL: "https://example.com/"})
		require.NoError(t, response.Cause)
		require.Equal(t, 64<<10, body.read)
		require.True(t, body.closed)
		require.Len(t, response.Body, 1<<10, "kept for the log")
	})

	t.Run("an endless response is cut off", func(t *testing.T) {
		receiver, cut := webhooktest.NewReceiver(t), make(chan error, 1)
		receiver.Respond(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, &endless{})
			cut <- err
		})
		client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		response := webhookclient.New(client, time.Now).Post(ctx, webhookclient.Request{URL: receiver.URL, Body: []byte("{}")})
		require.NoError(t, response.Cause)
		require.NoError(t, ctx.Err(), "the limit of 64 KiB ended the reading, not the timeout")
		require.Error(t, <-cut, "the connection is closed, not drained")
	})
}

func TestAReceiverThatDoesNotReadTimesOut(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	go func() {
		defer close(closed)
		if conn, err := listener.Accept(); err == nil {
			<-ctx.Done()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	// More than the buffers of a connection hold.
	request := webhookclient.Request{URL: "http://" + listener.Addr().String(), Body: make([]byte, 16<<20)}
	client := netguard.NewClient(netguard.Options{AllowLoopback: true, Timeout: time.Minute})
	response := webhookclient.New(client, time.Now).Post(ctx, request)
	require.Equal(t, rules.ClassTimeout, response.Class)
	require.False(t, response.Internal, "the attempt counts")
	require.NoError(t, listener.Close())
	<-closed // By the client, or it had no time to connect.
}
