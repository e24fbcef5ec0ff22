package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/forward"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errReceiver = errors.New("is no address such as localhost:3000/webhooks")
	errNotHTTPS = errors.New("is not of this machine, and events have claim URLs: use https")
)

// maxKept is how many events can be sent again on demand.
const maxKept = 1000

// listener forwards events and keeps the last ones.
type listener struct {
	*app

	sender *forward.Sender
	lock   sync.Mutex // The feed and the terminal send.
	recent []gifting.Event
}

func (a *app) listenCommand() *cobra.Command {
	var chosen selection
	var receiver, secretFile string
	command := a.command("listen", "Receive your own webhooks on this machine, without a tunnel", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		address, err := receiverAddress(receiver)
		if err != nil {
			return err
		}
		secrets, err := a.webhookSecrets(secretFile)
		if err != nil {
			return err
		}
		return a.listen(ctx, client, &chosen, address, secrets)
	})
	command.Long = `listen reads your events from the feed, waiting for each, and sends them to your receiver as the platform
sends webhooks: the same body, the same headers, signed in both forms. It says what the platform would make of
each answer. Type r and Enter to send the last event again, or r and the id of an event.

Requests are signed with the secrets of GIFTING_WEBHOOK_SECRET or --secret-file, one a line, the newest last.
Without any, listen makes one and prints it. Unlike real webhooks, listen also sends the changes that your own
key makes; and nothing is sent again by itself.`
	command.Flags().StringVar(&receiver, "forward-to", "", "address of your receiver, such as localhost:3000/webhooks (required)")
	command.Flags().StringVar(&secretFile, "secret-file", "", "the file with the signing secrets")
	return chosen.flags(command)
}

// receiverAddress completes an address. A port alone is on this machine. Without a scheme, this machine gets http, others https.
func receiverAddress(text string) (string, error) {
	full := text
	if port, _, _ := strings.Cut(strings.TrimPrefix(text, ":"), "/"); port != "" && strings.Trim(port, "0123456789") == "" {
		full = "localhost:" + strings.TrimPrefix(text, ":")
	}
	hasScheme := strings.Contains(full, "://")
	if !hasScheme {
		full = "https://" + full
	}
	address, err := url.Parse(full)
	if err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
		return "", terminal.AsUsageError(fmt.Errorf("--forward-to %q %w", text, errReceiver))
	}
	ip := net.ParseIP(address.Hostname())
	local := address.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case local && !hasScheme:
		return "http" + strings.TrimPrefix(full, "https"), nil
	case !local && address.Scheme == "http":
		return "", terminal.AsUsageError(fmt.Errorf("--forward-to %q %w", text, errNotHTTPS))
	}
	return full, nil
}

func (a *app) listen(ctx context.Context, client *gifting.Client, chosen *selection, receiver string, secrets []string) error {
	if len(secrets) == 0 {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // It never fails.
		secrets = []string{hex.EncodeToString(secret)}
		a.note("Signing secret: " + secrets[0])
	}
	l := &listener{app: a, sender: forward.New(receiver, secrets...)}
	ready := func() {
		a.note("Events go to " + receiver + ". Ctrl-C stops.")
		go l.resendOnRequest(ctx)
	}
	return a.follow(ctx, client, chosen, ready, func(event gifting.Event) error { return l.forward(ctx, event, true) })
}

// forward sends an event and prints the verdict. A new event is kept, so that it can be sent again.
func (l *listener) forward(ctx context.Context, event gifting.Event, isNew bool) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if isNew {
		l.recent = append(l.recent[max(0, len(l.recent)+1-maxKept):], event)
	}
	verdict := l.sender.Send(ctx, event)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l.output == terminal.AsJSON {
		return terminal.JSONLine(l.Out, struct {
			EventID string            `json:"eventId"`
			Type    gifting.EventType `json:"type"`
			forward.Verdict
		}{event.ID, event.Type, verdict})
	}
	outcome := fmt.Sprintf("delivered: HTTP %d", verdict.Status)
	if !verdict.Delivered {
		outcome = "NOT delivered, the platform would try again: " + verdict.Error
	}
	row := append([]string{timeText(event.OccurredAt), string(event.Type), event.ID}, about(event)...)
	if err := terminal.Table(l.Out, nil, [][]string{append(row, fmt.Sprintf("%s (%d ms)", outcome, verdict.DurationMs))}); err != nil {
		return err
	}
	if verdict.Body != "" && !verdict.Delivered {
		_, err := fmt.Fprintln(l.Out, "  "+strings.ReplaceAll(terminal.Visible(strings.TrimSpace(verdict.Body)), "\n", "\n  "))
		return err
	}
	return nil
}

// resendOnRequest sends events again that the user asks for.
func (l *listener) resendOnRequest(ctx context.Context) {
	lines := bufio.NewScanner(l.In)
	for lines.Scan() {
		asked := strings.Fields(lines.Text())
		if len(asked) == 0 {
			continue
		}
		event, found := l.findRecent(asked[1:])
		if asked[0] != "r" || !found {
			l.note("Type r to send the last event again, or r and the id of one of the last events.")
			continue
		}
		if err := l.forward(ctx, event, false); err != nil {
			return
		}
	}
}

// findRecent returns the event with the id, or the last one.
func (l *listener) findRecent(id []string) (gifting.Event, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for i := len(l.recent) - 1; i >= 0; i-- {
		if len(id) == 0 || l.recent[i].ID == id[0] {
			return l.recent[i], true
		}
	}
	return gifting.Event{}, false
}
