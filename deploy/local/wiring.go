package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/settings"
)

// wiring has the values from which the settings of the programs are made.
type wiring struct {
	Config
	secrets      secrets
	certificates certificates
	databases    *databases
	redisURL     string
	brokers      string
}

// environment returns the settings that the program reads. Settings shared by all programs are set in one place.
func (w wiring) environment(p programs.Program) (map[string]string, error) {
	images, err := filepath.Abs(filepath.Join(w.Dir, "images"))
	if err != nil {
		return nil, fmt.Errorf("folder of images: %w", err)
	}
	bucket := url.URL{Scheme: "file", Path: filepath.ToSlash(images)}
	identity, outboxes := w.certificates.Of(p.Name), []string(nil)
	feed, webhook := w.groups()
	values := map[string]string{
		"GRPC_ADDR": w.addr(p.GRPCPort), "HTTP_ADDR": w.addr(p.Port), "METRICS_ADDR": w.addr(p.Port + programs.MetricsOffset),
		"TLS_CERT_FILE": identity.CertFile, "TLS_KEY_FILE": identity.KeyFile, "TLS_CA_FILE": identity.CAFile,
		"LAME_DUCK": "0s", "ENVIRONMENT": string(apikey.Sandbox), "DATABASE_URL": w.databases.url(p.Database), "REDIS_URL": w.redisURL,
		"KAFKA_BROKERS": w.brokers, "KAFKA_TOPIC": w.Topic(), "KAFKA_FEED_GROUP": feed, "KAFKA_WEBHOOK_GROUP": webhook,
		"SEAL_KEYS": w.secrets.sealKeys(p), "FINGERPRINT_KEY": w.secrets[fingerprintKey],
		"EVENT_KEYS": w.secrets[eventKeys],
		"PUBLIC_URL": w.publicURL(), "CLAIM_URL": w.origin() + "/c", "IMAGES_URL": bucket.String(),
		"OPENING_HOURS": "Mon-Fri 09:00-17:00", "OPENING_ZONE": "Europe/Stockholm", "ALLOW_LOOPBACK_WEBHOOKS": "true",
	}
	for _, other := range programs.All() {
		values[other.PeerSetting()] = w.addr(other.Port)
		if other.Outbox {
			outboxes = append(outboxes, other.Database+"="+w.databases.relayURL(other.Database))
		}
	}
	values["OUTBOX_SOURCES"] = strings.Join(outboxes, ",")
	env := map[string]string{}
	for name, value := range values {
		if _, known := p.Settings[settings.Prefix+name]; known {
			env[settings.Prefix+name] = value
		}
	}
	return env, nil
}

// requestTimeout bounds one readiness check.
const requestTimeout = 2 * time.Second

var errNotReady = errors.New("not ready")

// answers returns a check that the URL responds with 200.
func answers(url string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%w: %s answers %s", errNotReady, url, res.Status)
		}
		return nil
	}
}
