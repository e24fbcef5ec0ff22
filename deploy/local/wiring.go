package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/identity"
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

	// letter of a further cell; empty: the programs are those of the first one. firstPort is the offset of the cell's ports.
	letter    string
	firstPort int
	cells     []wiring
}

// programsOfCell are the programs of a further cell.
func programsOfCell() []programs.Program {
	return slices.DeleteFunc(programs.All(), func(p programs.Program) bool { return !p.Name.InCells() })
}

// withCells adds the wiring of further cells. They share all but databases, topic, groups and ports.
func (w wiring) withCells() wiring {
	for i, letter := range w.Cells {
		cell := w
		cell.letter, cell.firstPort, cell.Name = letter, PortSpan+i*cellSpan, w.cellName(letter)
		cell.databases, cell.cells = w.databases.ofCell(cell.Name), nil
		w.cells = append(w.cells, cell)
	}
	return w
}

// all is the wiring of all cells, that of the first one with the programs that are once in a platform.
func (w wiring) all() []wiring { return append([]wiring{w}, w.cells...) }

// address is an address of a program of this cell, or of one that is once in a platform, by the offset of its port.
func (w wiring) address(p programs.Program, offset int) string {
	if p.Name.InCells() {
		offset += w.firstPort
	}
	return w.addr(offset)
}

// cellDatabases is the setting by which the tenants service finds the databases of all cells.
func (w wiring) cellDatabases() string {
	urls := []string{identity.HomeCell + "=" + w.databases.template()}
	for _, cell := range w.cells {
		urls = append(urls, cell.letter+"="+cell.databases.template())
	}
	return strings.Join(urls, ",")
}

// environment returns the settings that the program reads. Settings shared by all programs are set in one place.
func (w wiring) environment(p programs.Program) (map[string]string, error) {
	images, err := filepath.Abs(filepath.Join(w.Dir, "images"))
	if err != nil {
		return nil, fmt.Errorf("folder of images: %w", err)
	}
	bucket := url.URL{Scheme: "file", Path: filepath.ToSlash(images)}
	files, outboxes := w.certificates.Of(p.Name), []string(nil)
	feed, webhook := w.groups()
	values := map[string]string{
		"GRPC_ADDR": w.address(p, p.GRPCPort), "HTTP_ADDR": w.address(p, p.Port),
		"METRICS_ADDR":  w.address(p, p.Port+programs.MetricsOffset),
		"TLS_CERT_FILE": files.CertFile, "TLS_KEY_FILE": files.KeyFile, "TLS_CA_FILE": files.CAFile,
		"LAME_DUCK": "0s", "ENVIRONMENT": string(apikey.Sandbox), "DATABASE_URL": w.databases.url(p.Database), "REDIS_URL": w.redisURL,
		"KAFKA_BROKERS": w.brokers, "KAFKA_TOPIC": w.Topic(), "KAFKA_FEED_GROUP": feed, "KAFKA_WEBHOOK_GROUP": webhook,
		"SEAL_KEYS": w.secrets.sealKeys(p), "FINGERPRINT_KEY": w.secrets[fingerprintKey],
		"EVENT_KEYS": w.secrets[eventKeys],
		"PUBLIC_URL": w.publicURL(), "CLAIM_URL": w.origin() + "/c", "IMAGES_URL": bucket.String(),
		"OPENING_HOURS": "Mon-Fri 09:00-17:00", "OPENING_ZONE": "Europe/Stockholm", "ALLOW_LOOPBACK_WEBHOOKS": "true",
	}
	for _, other := range programs.All() {
		values[other.PeerSetting()] = w.address(other, other.Port)
		if other.Outbox {
			outboxes = append(outboxes, other.Database+"="+w.databases.relayURL(other.Database))
		}
	}
	values["OUTBOX_SOURCES"] = strings.Join(outboxes, ",")
	if w.letter != "" {
		values["CELL"] = w.letter
	}
	if len(w.cells) > 0 {
		values["CELL_DATABASES"] = w.cellDatabases()
	}
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
