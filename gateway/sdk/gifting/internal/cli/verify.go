package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errNoSecrets = errors.New("give the signing secret in GIFTING_WEBHOOK_SECRET or --secret-file")
	errTwice     = errors.New("body and secrets cannot both come from the standard input: give --body or --secret-file a file")
	errHeader    = errors.New("is no header such as 'Service-Signature: t=…'")
)

// verified is the result of a check of a signature.
type verified struct {
	Verified bool              `json:"verified"`
	EventID  string            `json:"eventId,omitempty"`
	Type     gifting.EventType `json:"type,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	// Remedy says what to do.
	Remedy string `json:"remedy,omitempty"`
}

func (a *app) verifyCommand() *cobra.Command {
	var bodyFile, secretFile string
	var headers []string
	var at timeOrAge
	command := &cobra.Command{
		Use: "verify", Short: "Check the signature of a webhook that you received", Args: arguments,
		Long: `verify checks a body and its headers against the signing secret, as your receiver must. Save the raw body to a
file, and pass the header Service-Signature, or the three of Standard Webhooks. If the check fails, it says
why, and what usually causes it.`,
		Example: `  gifting verify --body body.json -H "Service-Signature: t=1773480413,v1=5257a8…"`,
		RunE: func(*cobra.Command, []string) error {
			if bodyFile == "-" && secretFile == "-" {
				return terminal.AsUsageError(errTwice)
			}
			secrets, err := a.webhookSecrets(secretFile)
			if err == nil && len(secrets) == 0 {
				err = terminal.AsUsageError(errNoSecrets)
			}
			if err != nil {
				return err
			}
			body, err := a.readFile(bodyFile)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			header, err := parseHeaders(headers)
			if err != nil {
				return err
			}
			return a.verify(body, header, secrets, at.Time)
		},
	}
	command.Flags().StringVar(&bodyFile, "body", "-", "the file with the raw body; - is the standard input")
	command.Flags().StringArrayVarP(&headers, "header", "H", nil, "a header of the request, as for curl; may be repeated")
	command.Flags().StringVar(&secretFile, "secret-file", "", "the file with the signing secrets, one a line")
	command.Flags().Var(&at, "at", "when it arrived, a time or an age; without it the age of the signature is not checked")
	return command
}

func parseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, terminal.AsUsageError(fmt.Errorf("%q %w", line, errHeader))
		}
		header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

func (a *app) verify(body []byte, header http.Header, secrets []string, at time.Time) error {
	verifier := gifting.Verifier{Secrets: secrets, Now: func() time.Time { return at }}
	if at.IsZero() {
		verifier.Now, verifier.Tolerance = nil, 100*365*24*time.Hour
	}
	event, err := verifier.Verify(body, header)
	if err == nil {
		return a.print(verified{Verified: true, EventID: event.ID, Type: event.Type})
	}
	result := verified{Reason: err.Error(), Remedy: remedy(err, verifier, body, header)}
	if err := a.print(result); err != nil {
		return err
	}
	return errCheckFailed
}

// remedy looks for what usually breaks a signature.
func remedy(err error, verifier gifting.Verifier, body []byte, header http.Header) string {
	fits := func(body []byte) bool { return verifier.Check(body, header) == nil }
	trimmed := bytes.TrimRight(body, "\r\n")
	switch {
	case errors.Is(err, gifting.ErrTimestamp):
		return "set the clock of the machine (NTP), and verify a webhook when it arrives, not later"
	case errors.Is(err, gifting.ErrNoSignature):
		return "pass the header Service-Signature, or Webhook-Id, Webhook-Timestamp and Webhook-Signature, " +
			"and see that no proxy removes them"
	case !errors.Is(err, gifting.ErrSignature):
		return "the signature is right, but the body is no event"
	case len(trimmed) < len(body) && fits(trimmed):
		return "the body has a line break at its end that was not sent: verify the bytes as they arrive"
	case fits(append(bytes.Clone(body), '\n')):
		return "the body lacks the line break at its end: verify the bytes as they arrive"
	}
	return "verify the raw body, before any parsing, with the secret as the text that was shown (64 characters, not decoded), " +
		"and all secrets during a rotation"
}
