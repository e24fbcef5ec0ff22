// Package gateway is the edge of the platform. It serves the public REST API and the gift site: it authenticates API keys,
// limits requests, makes the checks that all requests share, and translates REST calls to gRPC calls of the services. The records
// of a tenant are in one cell, an installation of the services besides tenants: its calls go there, also while it moves to another.
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
	"github.com/partnergifting/platform/gateway/internal/locate"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/service"
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
	KeyStale          time.Duration      `env:"KEY_STALE" envDefault:"15m" check:"min=0s,max=24h" doc:"How long a known API key works while the tenants service does not answer, if Redis accepts writes, has no newer version of its tenant, was asked at least every 3 s since, and was not restarted or replaced."`
	Limits            admission.Config   `envPrefix:"LIMIT_"`
	WaitingCalls      int                `env:"LIMIT_WAITING_CALLS" envDefault:"2000" check:"min=1" doc:"Maximum number of calls of GET /events that wait for an event at a gateway; further ones are answered at once. Each takes about 40 KB."`
	TrustedProxies    []string           `env:"TRUSTED_PROXIES" check:"networks" doc:"Addresses or prefixes of the load balancers whose X-Forwarded-For is trusted."`
	// With a zero LameDuck, the server stops accepting requests immediately.
	LameDuck       time.Duration `env:"LAME_DUCK" envDefault:"5s" check:"min=0s,max=5m" doc:"How long a stopping gateway still accepts requests, so that load balancers can stop sending them."`
	DrainTimeout   time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" check:"min=1s" doc:"How long a stopping gateway waits for requests in flight."`
	FingerprintKey []string      `env:"FINGERPRINT_KEY,required" check:"base64=32" secret:"true" doc:"Key ring of the fingerprints of requests and the signatures of cursors: the first key is used for new ones, all are accepted. Must be the same on every gateway, except while it is rotated."`
	Documentation  docs.Operator `envPrefix:"DOCS_"`
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

// linkHold is how long a request of the gift site is held while the tenant of the link moves to another cell.
const linkHold = 3 * time.Second

const (
	headerTimeout = 10 * time.Second
	// readTimeout is longer than the longest call: when it is over, the caller of a held one counts as gone.
	readTimeout = 75 * time.Second
	// writeTimeout starts when the header has been read: it covers reading the body, the call and the response.
	writeTimeout  = 90 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeaderSize = 64 << 10
)

// edgeServer is the HTTP server of the edge and what it needs.
type edgeServer struct {
	cfg    Config
	keys   [][]byte // Of fingerprints and cursors.
	tel    *telemetry.Telemetry
	errors httperror.Writer
	redis  *redis.Client // Nil without an address.
	http   *http.Server
	waits  *feedwait.Waits
	cells  *service.Cells

	serving atomic.Bool
	// shuttingDown is closed when the shutdown begins.
	shuttingDown chan struct{}
}

// Program describes the command of the gateway.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Gateway,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		New:       New,
	}
}

// New builds the gateway without connecting to anything. Requests to a service that is down are answered with
// service_unavailable until it is back.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Environment.Validate()); err != nil {
		return nil, err
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	keys, err := fingerprintKeys(cfg.FingerprintKey)
	if err != nil {
		return nil, err
	}
	e := &edgeServer{
		cfg: cfg, keys: keys, tel: tel, errors: httperror.Writer{DocsURL: cfg.PublicURL + "/docs", Log: tel.Logger},
		shuttingDown: make(chan struct{}),
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, NoServer: cfg.GRPCAddr == "",
		RPC: rpc.Config{Addr: cfg.GRPCAddr, TLS: cfg.TLS, LameDuck: cfg.LameDuck, DrainTimeout: cfg.DrainTimeout},
	}, func(s *service.Service) error { return e.assemble(ctx, s) })
}

func (e *edgeServer) assemble(ctx context.Context, s *service.Service) error {
	if err := e.openRedis(s); err != nil {
		return err
	}
	conns, err := e.dial(s)
	if err != nil {
		return err
	}
	handler, err := e.handler(ctx, s, conns)
	if err != nil {
		return err
	}
	e.http = &http.Server{
		Handler:           e.closeConnections(handler),
		ConnContext:       httperror.ConnContext,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderSize,
		// OPTIONS * needs an API key like any other request.
		DisableGeneralOptionsHandler: true,
	}
	s.Add(daemon.Part{Name: "http", Run: e.serve}, daemon.Part{Name: "waiting calls", Run: e.waits.Run})
	s.ReadyIf(e.ready)
	return nil
}

func (e *edgeServer) openRedis(s *service.Service) error {
	if e.cfg.RedisURL == "" {
		return nil
	}
	client, err := redisconn.Open(e.cfg.RedisURL, e.tel)
	if err != nil {
		return err
	}
	s.CloseAtEnd(client)
	e.redis = client
	return nil
}

// dial connects to the tenants service, and to the other services in every cell.
func (e *edgeServer) dial(s *service.Service) (edge.Connections, error) {
	var c edge.Connections
	register := &idempotent.Register{Log: e.tel.Logger}
	send := edge.Send(register, edge.NewCursors(e.keys...))
	tenants, err := s.Dial(identity.Tenants, e.cfg.TenantsAddr, send)
	if err != nil {
		return c, err
	}
	c.Tenants = tenants
	directory := tenantsv1.NewDirectoryServiceClient(tenants)
	e.cells = s.NewCells(func(ctx context.Context) ([]*tenantsv1.Cell, error) {
		listed, err := directory.ListCells(ctx, &tenantsv1.ListCellsRequest{})
		return listed.GetCells(), err
	})
	for _, peer := range []struct {
		name identity.Name
		addr string
		conn *grpc.ClientConnInterface
	}{
		{identity.Catalog, e.cfg.CatalogAddr, &c.Catalog},
		{identity.Orders, e.cfg.OrdersAddr, &c.Orders},
		{identity.PersonalLinks, e.cfg.PersonalLinksAddr, &c.PersonalLinks},
		{identity.Events, e.cfg.EventsAddr, &c.Events},
		{identity.Webhook, e.cfg.WebhookAddr, &c.Webhook},
	} {
		if *peer.conn, err = e.cells.Dial(peer.name, peer.addr, send); err != nil {
			return c, err
		}
	}
	register.Client = commonv1.NewIdempotencyRegisterServiceClient(c.Orders)
	return c, nil
}

func (e *edgeServer) handler(ctx context.Context, s *service.Service, conns edge.Connections) (http.Handler, error) {
	operations, err := operation.New(e.cfg.Environment)
	if err != nil {
		return nil, err
	}
	proxies, err := clientip.ParseProxies(e.cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	limiters, err := e.limiters()
	if err != nil {
		return nil, err
	}
	services, err := edge.NewServices(ctx, conns, e.cfg.PublicURL, e.cfg.Environment)
	if err != nil {
		return nil, err
	}
	document, err := openapi.New(e.cfg.PublicURL, e.cfg.Environment, e.cfg.Changes)
	if err != nil {
		return nil, err
	}
	documentation, err := docs.New(document, edge.BasePath, e.cfg.Documentation, e.tel.Logger)
	if err != nil {
		return nil, err
	}
	page, err := e.console()
	if err != nil {
		return nil, err
	}
	site, err := e.giftSite(conns, limiters, proxies)
	if err != nil {
		return nil, err
	}
	if s.Server != nil {
		registerPreview(s.Server, e.cfg, conns, e.cells.Letters, site)
	}
	https := strings.HasPrefix(e.cfg.PublicURL, "https://")
	observer, err := edge.NewObserver(ctx, e.tel, https)
	if err != nil {
		return nil, err
	}
	e.waits, err = feedwait.New(feedwait.Deps{
		Notices: eventsv1.NewFeedNoticesServiceClient(conns.Events), Letters: e.cells.Letters, Redis: e.redis,
		Meter: e.tel.Meters.Meter("gateway"), Log: e.tel.Logger,
	}, feedwait.Config{MaxHeld: e.cfg.WaitingCalls, RedisBudget: e.cfg.RedisBudget, ShutdownWithin: e.cfg.DrainTimeout / 2})
	if err != nil {
		return nil, err
	}
	checker := access.New(access.Deps{
		Directory: tenantsv1.NewDirectoryServiceClient(conns.Tenants),
		Limiter:   limiters["key"],
		Failures:  newWindow(failureLimit),
		ClientIP:  proxies.Of,
		Clock:     time.Now,
	}, access.Config{Environment: e.cfg.Environment, KeyStale: e.cfg.KeyStale})
	if e.redis != nil {
		redisconn.OnNewServer(e.redis, checker.NoteNewRedis)
	}
	return edge.New(edge.Deps{
		Access:        checker,
		Gate:          admission.New(e.cfg.Limits),
		Operations:    operations,
		Fingerprinter: idempotent.NewFingerprinter(e.keys...),
		Errors:        e.errors,
		Services:      services,
		Images: images.New(images.Deps{
			Images:   imagesOfAllCells(conns, e.cells.Letters),
			Limiter:  limiters["images"],
			Errors:   e.errors,
			ClientIP: proxies.Of,
		}, images.Config{Prefix: edge.BasePath + edge.ImagesPath}),
		Docs:         documentation,
		Pages:        newWindow(pageLimit),
		ClientIP:     proxies.Of,
		Deprecations: document.Notices,
		GiftSite:     site,
		Waits:        e.waits,
		Letters:      e.cells.Letters,
		Console:      page,
		Observer:     observer,
		ShuttingDown: e.shuttingDown,
		Log:          e.tel.Logger,
	}, edge.Config{HTTPS: https, Sandbox: e.cfg.Environment == apikey.Sandbox}), nil
}

func (e *edgeServer) giftSite(
	conns edge.Connections, limiters map[string]*limits.Limiter, proxies clientip.Proxies,
) (*giftsite.Site, error) {
	return giftsite.New(giftsite.Deps{
		Links: linksv1.NewGiftSiteServiceClient(&locate.Conn{
			ClientConnInterface: conns.PersonalLinks, Letters: e.cells.Letters, Hold: linkHold,
		}),
		Visits:   giftsite.Limits{Address: limiters["visits"], Link: newWindow(linkVisitLimit)},
		Claims:   giftsite.Limits{Address: limiters["claims"], Link: newWindow(linkClaimLimit)},
		ClientIP: proxies.Of,
		Clock:    time.Now,
		Log:      e.tel.Logger,
	}, giftsite.Config{PublicURL: e.cfg.PublicURL, ImagesPath: edge.ImagesPath})
}

func imagesOfAllCells(conns edge.Connections, letters func(ctx context.Context) []string) catalogv1.ImagesServiceClient {
	return catalogv1.NewImagesServiceClient(&locate.Conn{ClientConnInterface: conns.Catalog, Letters: letters})
}

// console is nil in production, where its paths are unknown.
func (e *edgeServer) console() (http.Handler, error) {
	if e.cfg.Environment != apikey.Sandbox {
		return nil, nil //nolint:nilnil // There is none.
	}
	return console.New(e.cfg.PublicURL, e.errors)
}

// fingerprintKeys decodes the ring. Package settings has checked the number of its keys and their length.
func fingerprintKeys(ring []string) ([][]byte, error) {
	keys := make([][]byte, len(ring))
	for i, text := range ring {
		var err error
		if keys[i], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("fingerprint key: %w", err)
		}
	}
	return keys, nil
}

func newWindow(limit int) *limits.Window {
	return limits.NewWindow(limits.Policy{Limit: limit, Window: limitWindow}, time.Now)
}

// limiters are those that count in Redis, by the name of their policy.
func (e *edgeServer) limiters() (map[string]*limits.Limiter, error) {
	deps := limits.Deps{Redis: e.redis, Meter: e.tel.Meters.Meter("gateway"), Clock: time.Now, Log: e.tel.Logger}
	limiters := map[string]*limits.Limiter{}
	for name, limit := range map[string]int{"key": keyLimit, "images": imageLimit, "visits": visitLimit, "claims": claimLimit} {
		policy := limits.Policy{Name: name, Limit: limit, Window: limitWindow}
		l, err := limits.New(deps, limits.Config{Policy: policy, RedisBudget: e.cfg.RedisBudget})
		if err != nil {
			return nil, err
		}
		limiters[name] = l
	}
	return limiters, nil
}

var errNotServing = errors.New("the HTTP server is not listening yet, or is shutting down")

func (e *edgeServer) ready(context.Context) error {
	if !e.serving.Load() || e.isShuttingDown() {
		return errNotServing
	}
	return nil
}

func (e *edgeServer) isShuttingDown() bool {
	select {
	case <-e.shuttingDown:
		return true
	default:
		return false
	}
}

// serve serves until ctx ends. Then /readyz fails. For LameDuck, requests are still served, but each response closes its
// connection, so that callers and balancers use other instances. After that, requests in flight get DrainTimeout to finish.
func (e *edgeServer) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", e.cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("http port: %w", err)
	}
	e.tel.Logger.InfoContext(ctx, "serving REST", "addr", listener.Addr().String(), "environment", e.cfg.Environment,
		"contract_level", rpc.ContractLevel)
	e.serving.Store(true)
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { drained <- e.drain(context.WithoutCancel(ctx), listener) })
	defer stop()
	err = e.http.Serve(httperror.Listener{Listener: listener, Writer: e.errors})
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("http server: %w", err)
	}
	return <-drained
}

func (e *edgeServer) drain(ctx context.Context, listener io.Closer) error {
	close(e.shuttingDown)
	e.tel.Logger.InfoContext(ctx, "shutting down: requests are still accepted", "lame_duck", e.cfg.LameDuck)
	e.waits.Shutdown()
	<-time.After(e.cfg.LameDuck)
	ctx, cancel := context.WithTimeout(ctx, e.cfg.DrainTimeout)
	defer cancel()
	if err := listener.Close(); err != nil {
		e.tel.Logger.WarnContext(ctx, "close the HTTP port", "error", err)
	}
	if err := e.http.Shutdown(ctx); err != nil {
		e.tel.Logger.WarnContext(ctx, "requests in flight are aborted", "error", err)
		return e.http.Close()
	}
	return nil
}

// closeConnections announces in a response that its connection will close. A gateway that ends does so because the caller might
// already be sending its next request. The other case is a request whose end is not certain.
func (e *edgeServer) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.isShuttingDown() || httperror.UncertainEnd(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
