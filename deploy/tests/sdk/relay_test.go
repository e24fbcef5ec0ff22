//go:build sdk

package sdk_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// relayFile is the sample that never ends by itself.
const relayFile = "relay"

var localSecret = strings.Repeat("0", 64)

// relayed verifies what a relay sends, in both forms, and keeps the first event or error.
type relayed struct {
	*httptest.Server

	first chan error
}

func newReceiver(t *testing.T) relayed {
	t.Helper()
	r := relayed{first: make(chan error, 1)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, sent *http.Request) {
		select {
		case r.first <- verifyBoth(sent):
		default: // Another event came before.
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

func verifyBoth(sent *http.Request) error {
	body, err := io.ReadAll(sent.Body)
	if err != nil {
		return err
	}
	event, err := gifting.Verify(body, sent.Header, localSecret)
	if err != nil {
		return err
	}
	sent.Header.Del("Service-Signature")
	if _, err := gifting.Verify(body, sent.Header, localSecret); err != nil {
		return err
	}
	if sent.Header.Get("Service-Event-Id") != event.ID || sent.Header.Get("Webhook-Id") != event.ID {
		return errors.New("the id of the event is in no header")
	}
	return nil
}

// sendingHere writes a sample of a relay so that it sends to the receiver.
func (p project) sendingHere(t *testing.T, sample string, receiver relayed) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "gateway", "docs", "samples", filepath.FromSlash(sample)))
	require.NoError(t, err)
	const shown = "http://localhost:3000"
	require.Contains(t, string(content), shown)
	p.write(t, filepath.Base(sample), strings.ReplaceAll(string(content), shown, receiver.URL))
}

// relay runs a relay until an event has arrived. It begins at the end of the feed, so orders are placed until it has begun.
func (p project) relay(t *testing.T, platform *harness.Platform, receiver relayed, program string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Stderr = p.dir, os.Stderr
	command.Env = append(p.env, "GIFTING_LOCAL_SECRET="+localSecret)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for range 60 {
		platform.Post(t, p.key, "/orders", platform.Order(t)).OK(t)
		select {
		case err := <-receiver.first:
			require.NoError(t, err)
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
	require.Fail(t, "no event arrived")
}

func testGoRelay(t *testing.T, platform *harness.Platform) {
	t.Helper()
	p, receiver := newProject(t, platform, "go"), newReceiver(t)
	p.sendingHere(t, "go/relay/main.go", receiver)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(p.dir, "relay"), filepath.Join(p.dir, "main.go"))
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	p.relay(t, platform, receiver, filepath.Join(p.dir, "relay"))
}
