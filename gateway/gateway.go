// Package gateway is the edge of the platform. It serves the public REST API and the gift site: it authenticates API keys,
// limits requests, makes the checks that all requests share, and translates REST calls to gRPC calls of the services.
package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/internal/access"
	"github.com/partnergifting/platform/gateway/internal/admission"
	"github.com/partnergifting/platform/gateway/internal/clientip"
	"github.com/partnergifting/platform/gateway/internal/console"
	"github.com/partnergifting/platform/gateway/internal/edge"
	"github.com/partnergifting/platform/gateway/internal/feedwait"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/gateway/internal/images"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Config of the gateway.
type Config struct {
	HTTPAddr string `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080" check:"listen" doc:"host:port that the REST API listens on."`
	// Without transport security GRPCAddr must be a loopback address.
	GRPCAddr          string `env:"GRPC_ADDR" check:"listen" doc:"host:port that the gRPC server for internal teams listens on, which previews the gift site; empty: there is none."`
	Telemetry         telemetry.Config
	TLS               identity.Config    `envPrefix:"TLS_"`
	Environment       apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; keys of the other one are refused."`
	PublicURL         string             `env:"PUBLIC_URL" envDefault:"http://127.0.0.1:8080/api/public/v1" check:"web" doc:"Base address of the API as callers see it."`
	TenantsAddr       string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	CatalogAddr       string             `env:"CATALOG_ADDR,required" check:"hostports" doc:"The catalog service: a DNS name of all instances, or their addresses."`
	OrdersAddr        string             `env:"ORDERS_ADDR,required" check:"hostports" doc:"The orders service: a DNS name of all instances, or their addresses."`
	PersonalLinksAddr string             `env:"PERSONAL_LINKS_ADDR,required" check:"hostports" doc:"The personal-links service: a DNS name of all instances, or their addresses."`
	EventsAddr        string             `env:"EVENTS_ADDR,required" check:"hostports" doc:"The events service: a DNS name of all instances, or their addresses."`
	WebhookAddr       string             `env:"WEBHOOK_ADDR,required" check:"hostports" doc:"The webhook service: a DNS name of all instances, or their addresses."`
	RedisURL          string             `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"Redis that counts requests; empty: each instance counts on its own."`
	RedisBudget       time.Duration      `env:"REDIS_BUDGET" envDefault:"50ms" check:"min=1ms,max=10s" doc:"How long a request waits for Redis; then the instance counts on its own."`
	KeyStale          time.Duration      `env:"KEY_STALE" envDefault:"15m" check:"min=0s,max=24h" doc:"How long a known API key works while the tenants service does not answer, if Redis accepts writes and has no newer version of its tenant."`
	Limits            admission.Config   `envPrefix:"LIMIT_"`
	WaitingCalls      int                `env:"LIMIT_WAITING_CALLS" envDefault:"2000" check:"min=1" doc:"Maximum number of calls of GET /events that wait for an event at a gateway; further ones are answered at once. Each takes about 40 KB."`
	TrustedProxies    []string           `env:"TRUSTED_PROXIES" check:"networks" doc:"Addresses or prefixes of the load balancers whose X-Forwarded-For is trusted."`
	// With a zero LameDuck, the server stops accepting requests immediately.
	LameDuck       time.Duration `env:"LAME_DUCK" envDefault:"5s" check:"min=0s,max=5m" doc:"How long a stopping gateway still accepts requests, so that load balancers can stop sending them."`
	DrainTimeout   time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" check:"min=1s" doc:"How long a stopping gateway waits for requests in flight."`
	FingerprintKey []string      `env:"FINGERPRINT_KEY,required" check:"base64=32" secret:"true" doc:"Key ring of the fingerprints of requests and the signatures of cursors: the first key is used for new ones, all are accepted. Must be the same on every gateway, except while it is rotated."`
	// Changes replace the change log of the API in tests.
	Changes openapi.Changes
}

// Validate implements the check of package settings.
func (c Config) Validate() error { return settings.Invalid("REDIS_URL", redisconn.Check(c.RedisURL)) }

// The limits of the API (API specification, section Limits).
const (
	keyLimit     = 300
	imageLimit   = 600
	failureLimit = 60
	// pageLimit is for documentation, console and their files, which need no key. An office reads them from one address.
	pageLimit   = 1200
	limitWindow = time.Minute
)

// The limits of the gift site per address, which many players in a mobile network may share, and for one link of them.
const (
	visitLimit     = 300
	claimLimit     = 120
	linkVisitLimit = 60
	linkClaimLimit = 30
)

const (
	headerTimeout = 10 * time.Second
	// readTimeout is longer than the longest call: when it is over, the caller of a held one counts as gone.
	readTimeout = 75 * time.Second
	// writeTimeout starts when the header has been read: it covers reading the body, the call and the response.
	writeTimeout  = 90 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeaderSize = 64 << 10
)

// Gateway is the running edge.
type Gateway struct {
	cfg    Config
	keys   [][]byte // Of fingerprints and cursors.
	tel    *telemetry.Telemetry
	errors httperror.Writer
	redis  *redis.Client
	conns  []*grpc.ClientConn
	server *http.Server
	// operations is nil without an address for it.
	operations *rpc.Server
	waits      *feedwait.Waits

	serving atomic.Bool
	// shuttingDown is closed when the shutdown begins.
	shuttingDown chan struct{}
}

// New builds the gateway without connecting to anything. Requests to a service that is down are answered with
// service_unavailable until it is back.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Gateway, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Environment.Validate()); err != nil {
		return nil, err
	}
	g := &Gateway{
		cfg: cfg, tel: tel, errors: httperror.Writer{DocsURL: cfg.PublicURL + "/docs", Log: tel.Logger}, shuttingDown: make(chan struct{}),
	}
	if err := g.assemble(ctx); err != nil {
		g.close(ctx)
		return nil, err
	}
	return g, nil
}

func (g *Gateway) assemble(ctx context.Context) (err error) {
	if g.keys, err = fingerprintKeys(g.cfg.FingerprintKey); err != nil {
		return err
	}
	if err := g.openRedis(); err != nil {
		return err
	}
	conns, err := g.dial()
	if err != nil {
		return err
	}
	handler, err := g.handler(ctx, conns)
	if err != nil {
		return err
	}
	g.server = &http.Server{
		Handler:           g.closeConnections(handler),
		ConnContext:       httperror.ConnContext,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderSize,
		// OPTIONS * needs an API key like any other request.
		DisableGeneralOptionsHandler: true,
	}
	return nil
}

func (g *Gateway) openRedis() error {
	if g.cfg.RedisURL == "" {
		return nil
	}
	client, err := redisconn.Open(g.cfg.RedisURL)
	if err != nil {
		return err
	}
	g.redis = client
	return redisconn.Observe(client, g.tel)
}

func (g *Gateway) dial() (edge.Connections, error) {
	var c edge.Connections
	register := &idempotent.Register{Log: g.tel.Logger}
	send := edge.Send(register, edge.NewCursors(g.keys...))
	for _, service := range []struct {
		name identity.Name
		addr string
		conn **grpc.ClientConn
	}{
		{identity.Tenants, g.cfg.TenantsAddr, &c.Tenants},
		{identity.Catalog, g.cfg.CatalogAddr, &c.Catalog},
		{identity.Orders, g.cfg.OrdersAddr, &c.Orders},
		{identity.PersonalLinks, g.cfg.PersonalLinksAddr, &c.PersonalLinks},
		{identity.Events, g.cfg.EventsAddr, &c.Events},
		{identity.Webhook, g.cfg.WebhookAddr, &c.Webhook},
	} {
		conn, err := rpc.Dial(rpc.Target{Service: service.name, Addr: service.addr, TLS: g.cfg.TLS}, g.tel, send)
		if err != nil {
			return c, err
		}
		*service.conn = conn
		g.conns = append(g.conns, conn)
	}
	register.Client = commonv1.NewIdempotencyRegisterServiceClient(c.Orders)
	return c, nil
}

func (g *Gateway) handler(ctx context.Context, conns edge.Connections) (http.Handler, error) {
	operations, err := operation.New(g.cfg.Environment)
	if err != nil {
		return nil, err
	}
	proxies, err := clientip.ParseProxies(g.cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	limiters, err := g.limiters()
	if err != nil {
		return nil, err
	}
	services, err := edge.NewServices(ctx, conns, g.cfg.PublicURL, g.cfg.Environment)
	if err != nil {
		return nil, err
	}
	document, err := openapi.New(g.cfg.PublicURL, g.cfg.Environment, g.cfg.Changes)
	if err != nil {
		return nil, err
	}
	documentation, err := docs.New(document, edge.BasePath, g.tel.Logger)
	if err != nil {
		return nil, err
	}
	page, err := g.console()
	if err != nil {
		return nil, err
	}
	site, err := g.giftSite(conns, limiters, proxies)
	if err != nil {
		return nil, err
	}
	if g.operations, err = g.operationsServer(conns, site); err != nil {
		return nil, err
	}
	https := strings.HasPrefix(g.cfg.PublicURL, "https://")
	gate, err := admission.New(g.cfg.Limits, g.tel.Meters.Meter("gateway"))
	if err != nil {
		return nil, err
	}
	observer, err := edge.NewObserver(ctx, g.tel, https)
	if err != nil {
		return nil, err
	}
	g.waits, err = feedwait.New(feedwait.Deps{
		Notices: eventsv1.NewFeedNoticesServiceClient(conns.Events), Redis: scripter(g.redis),
		Meter: g.tel.Meters.Meter("gateway"), Log: g.tel.Logger,
	}, feedwait.Config{MaxHeld: g.cfg.WaitingCalls, RedisBudget: g.cfg.RedisBudget, ShutdownWithin: g.cfg.DrainTimeout / 2})
	if err != nil {
		return nil, err
	}
	return edge.New(edge.Deps{
		Access: access.New(access.Deps{
			Directory: tenantsv1.NewDirectoryServiceClient(conns.Tenants),
			Limiter:   limiters["key"],
			Failures:  newWindow(failureLimit),
			ClientIP:  proxies.Of,
			Clock:     time.Now,
		}, access.Config{Environment: g.cfg.Environment, KeyStale: g.cfg.KeyStale}),
		Gate:          gate,
		Operations:    operations,
		Fingerprinter: idempotent.NewFingerprinter(g.keys...),
		Errors:        g.errors,
		Services:      services,
		Images: images.New(images.Deps{
			Images:   catalogv1.NewImagesServiceClient(conns.Catalog),
			Limiter:  limiters["images"],
			Errors:   g.errors,
			ClientIP: proxies.Of,
			Clock:    time.Now,
		}, images.Config{Prefix: edge.BasePath + edge.ImagesPath}),
		Docs:         documentation,
		Pages:        newWindow(pageLimit),
		ClientIP:     proxies.Of,
		Deprecations: document.Notices,
		GiftSite:     site,
		Waits:        g.waits,
		Console:      page,
		Observer:     observer,
		ShuttingDown: g.shuttingDown,
		Log:          g.tel.Logger,
	}, edge.Config{HTTPS: https, Sandbox: g.cfg.Environment == apikey.Sandbox}), nil
}

func (g *Gateway) giftSite(conns edge.Connections, limiters map[string]*limits.Limiter, proxies clientip.Proxies) (*giftsite.Site, error) {
	return giftsite.New(giftsite.Deps{
		Links:    linksv1.NewGiftSiteServiceClient(conns.PersonalLinks),
		Visits:   giftsite.Limits{Address: limiters["visits"], Link: newWindow(linkVisitLimit)},
		Claims:   giftsite.Limits{Address: limiters["claims"], Link: newWindow(linkClaimLimit)},
		ClientIP: proxies.Of,
		Clock:    time.Now,
		Log:      g.tel.Logger,
	}, giftsite.Config{PublicURL: g.cfg.PublicURL})
}

// scripter returns no interface around a nil client.
func scripter(client *redis.Client) redis.Scripter {
	if client == nil {
		return nil
	}
	return client
}

// console is nil in production, where its paths are unknown.
func (g *Gateway) console() (http.Handler, error) {
	if g.cfg.Environment != apikey.Sandbox {
		return nil, nil //nolint:nilnil // There is none.
	}
	return console.New(g.cfg.PublicURL, g.errors)
}

const minFingerprintKey = 32

var errFingerprintKey = errors.New("the fingerprint key must be base64 of at least 32 bytes, several separated by commas")

func fingerprintKeys(ring []string) ([][]byte, error) {
	keys := make([][]byte, 0, len(ring))
	for _, text := range ring {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) < minFingerprintKey {
			return nil, errFingerprintKey
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errFingerprintKey
	}
	return keys, nil
}

func newWindow(limit int) *limits.Window {
	return limits.NewWindow(limits.Policy{Limit: limit, Window: limitWindow}, time.Now)
}

// limiters are those that count in Redis, by the name of their policy.
func (g *Gateway) limiters() (map[string]*limits.Limiter, error) {
	deps := limits.Deps{Meter: g.tel.Meters.Meter("gateway"), Clock: time.Now, Log: g.tel.Logger}
	if g.redis != nil { // A nil client in the interface would not be nil.
		deps.Redis = g.redis
	}
	limiters := map[string]*limits.Limiter{}
	for name, limit := range map[string]int{"key": keyLimit, "images": imageLimit, "visits": visitLimit, "claims": claimLimit} {
		policy := limits.Policy{Name: name, Limit: limit, Window: limitWindow}
		l, err := limits.New(deps, limits.Config{Policy: policy, RedisBudget: g.cfg.RedisBudget})
		if err != nil {
			return nil, err
		}
		limiters[name] = l
	}
	return limiters, nil
}

// Run serves until ctx ends. Then /readyz fails. For LameDuck, requests are still served, but each response closes its
// connection, so that callers and balancers use other instances. After that, requests in flight get DrainTimeout to finish.
func (g *Gateway) Run(ctx context.Context) error {
	defer g.close(ctx)
	parts := []daemon.Part{{Name: "http", Run: g.serve}, {Name: "waiting calls", Run: g.waits.Run}}
	ready := []func(context.Context) error{g.ready}
	if g.operations != nil {
		parts = append(parts, daemon.Part{Name: "grpc", Run: g.operations.Run})
		ready = append(ready, g.operations.Ready)
	}
	return daemon.Run(ctx, g.tel.Logger, append(parts, daemon.Metrics(g.tel, ready...))...)
}

func (g *Gateway) close(ctx context.Context) {
	var errs []error
	for _, conn := range g.conns {
		errs = append(errs, conn.Close())
	}
	if g.redis != nil {
		errs = append(errs, g.redis.Close())
	}
	if err := errors.Join(errs...); err != nil {
		g.tel.Logger.WarnContext(ctx, "close connections", "error", err)
	}
}

var errNotServing = errors.New("the HTTP server is not listening yet, or is shutting down")

func (g *Gateway) ready(context.Context) error {
	if !g.serving.Load() || g.isShuttingDown() {
		return errNotServing
	}
	return nil
}

func (g *Gateway) isShuttingDown() bool {
	select {
	case <-g.shuttingDown:
		return true
	default:
		return false
	}
}

func (g *Gateway) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", g.cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("http port: %w", err)
	}
	g.tel.Logger.InfoContext(ctx, "serving REST", "addr", listener.Addr().String(), "environment", g.cfg.Environment)
	g.serving.Store(true)
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { drained <- g.drain(context.WithoutCancel(ctx), listener) })
	defer stop()
	err = g.server.Serve(httperror.Listener{Listener: listener, Writer: g.errors})
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("http server: %w", err)
	}
	return <-drained
}

func (g *Gateway) drain(ctx context.Context, listener io.Closer) error {
	close(g.shuttingDown)
	g.tel.Logger.InfoContext(ctx, "shutting down: requests are still accepted", "lame_duck", g.cfg.LameDuck)
	g.waits.Shutdown()
	<-time.After(g.cfg.LameDuck)
	ctx, cancel := context.WithTimeout(ctx, g.cfg.DrainTimeout)
	defer cancel()
	if err := listener.Close(); err != nil {
		g.tel.Logger.WarnContext(ctx, "close the HTTP port", "error", err)
	}
	if err := g.server.Shutdown(ctx); err != nil {
		g.tel.Logger.WarnContext(ctx, "requests in flight are aborted", "error", err)
		return g.server.Close()
	}
	return nil
}

// closeConnections announces in a response that its connection will close. A gateway that ends does so because the caller might
// already be sending its next request. The other case is a request whose end is not certain.
func (g *Gateway) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.isShuttingDown() || httperror.UncertainEnd(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
