package gifting

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultTolerance is how far the time of a signature may be from the receiver's clock, so that a recorded webhook cannot be sent
// again later.
const DefaultTolerance = 5 * time.Minute

// Why a webhook is refused.
var (
	// ErrNoSignature means that the request has no complete signature, in neither form.
	ErrNoSignature = errors.New("the request has no signature")
	// ErrSignature means that no signature is right: another secret, or a body that was changed after it was signed.
	ErrSignature = errors.New("no signature of the request fits its body and a secret")
	// ErrTimestamp means that the request was signed too long ago, or that the clock of one of the two is wrong.
	ErrTimestamp = errors.New("the time of the signature is too far from the clock")
	// ErrSecret means that there is no secret to verify with, or one that cannot be right: an error of the receiver, not of the
	// sender.
	ErrSecret = errors.New("the webhook cannot be verified")
)

// Verifier verifies webhooks.
type Verifier struct {
	// Secrets of the key, as they were shown: 64 characters. After a rotation there may be several; one of them must fit.
	Secrets []string
	// Tolerance is DefaultTolerance if it is zero.
	Tolerance time.Duration
	// Now is the clock, time.Now if it is nil.
	Now func() time.Time
}

// Verify verifies a webhook with the secrets of the key and returns its event. The payload is the raw body, before any parsing.
func Verify(payload []byte, headers http.Header, secrets ...string) (*Event, error) {
	return Verifier{Secrets: secrets}.Verify(payload, headers)
}

// Verify verifies a webhook and returns its event. The payload is the raw body, before any parsing.
func (v Verifier) Verify(payload []byte, headers http.Header) (*Event, error) {
	if err := v.Check(payload, headers); err != nil {
		return nil, err
	}
	event := &Event{}
	if err := json.Unmarshal(payload, event); err != nil {
		return nil, err
	}
	return event, nil
}

// Check verifies the signature only. A request has it in two forms. Service-Signature decides if it is there, otherwise that of
// Standard Webhooks does: a proxy may have removed one of them.
func (v Verifier) Check(payload []byte, headers http.Header) error {
	secrets := v.Secrets
	if len(secrets) == 0 {
		secrets = []string{""}
	}
	for _, secret := range secrets {
		if err := checkSecret(secret, "the webhook secret"); err != nil {
			return fmt.Errorf("%w: %w", ErrSecret, err)
		}
	}
	if len(headers.Values("Service-Signature")) > 0 {
		return v.check(payload, "", serviceSignature(headers))
	}
	if headers.Get("Webhook-Id") == "" {
		return ErrNoSignature
	}
	return v.check(payload, headers.Get("Webhook-Id")+".", standardSignature(headers))
}

// signature is what a request claims: a time and the HMAC of each secret.
type signature struct {
	at   string
	macs [][]byte
}

// check compares every claimed HMAC with that of every secret.
func (v Verifier) check(payload []byte, prefix string, claimed signature) error {
	seconds, err := strconv.ParseInt(claimed.at, 10, 64)
	if err != nil || len(claimed.macs) == 0 {
		return ErrNoSignature
	}
	fits := false
	for _, secret := range v.Secrets {
		want := sign(secret, prefix+claimed.at, payload)
		for _, mac := range claimed.macs {
			fits = hmac.Equal(mac, want) || fits
		}
	}
	now, tolerance := time.Now(), v.Tolerance
	if v.Now != nil {
		now = v.Now()
	}
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	switch {
	case !fits:
		return ErrSignature
	case now.Sub(time.Unix(seconds, 0)).Abs() > tolerance:
		return ErrTimestamp
	}
	return nil
}

func sign(secret, prefix string, payload []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret)) // Its text, not what its hex digits encode.
	mac.Write([]byte(prefix + "."))
	mac.Write(payload)
	return mac.Sum(nil)
}

// serviceSignature reads t=<seconds>,v1=<hex>,v1=<hex>.
func serviceSignature(headers http.Header) (s signature) {
	for part := range strings.SplitSeq(headers.Get("Service-Signature"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			s.at = value
		case "v1":
			if mac, err := hex.DecodeString(value); err == nil {
				s.macs = append(s.macs, mac)
			}
		}
	}
	return s
}

// standardSignature reads v1,<base64> v1,<base64>.
func standardSignature(headers http.Header) signature {
	s := signature{at: headers.Get("Webhook-Timestamp")}
	for part := range strings.FieldsSeq(headers.Get("Webhook-Signature")) {
		version, value, _ := strings.Cut(part, ",")
		if mac, err := base64.StdEncoding.DecodeString(value); err == nil && version == "v1" {
			s.macs = append(s.macs, mac)
		}
	}
	return s
}

// WebhookHeaders are the headers with which the platform sends a webhook, signed with each secret, the newest last. Use them to
// test a receiver.
func WebhookHeaders(payload []byte, eventID string, at time.Time, secrets ...string) http.Header {
	t := strconv.FormatInt(at.Unix(), 10)
	service, standard := "t="+t, make([]string, len(secrets))
	for i, secret := range secrets {
		service += ",v1=" + hex.EncodeToString(sign(secret, t, payload))
		standard[i] = "v1," + base64.StdEncoding.EncodeToString(sign(secret, eventID+"."+t, payload))
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "Partner-Gifting-Webhooks/1")
	h.Set("Service-Event-Id", eventID)
	h.Set("Service-Signature", service)
	h.Set("Webhook-Id", eventID)
	h.Set("Webhook-Timestamp", t)
	h.Set("Webhook-Signature", strings.Join(standard, " "))
	return h
}
